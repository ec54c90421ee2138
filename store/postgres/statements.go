package postgres

import "strings"

// statements are the SQL of one schema.
type statements struct {
	// begin of a batch that draws revisions
	lock string
	// orders
	add, settle, byIDs, byID           string
	before, beforeOf, changes, pending string
	// payments
	begin, sync, lockAccounts, payments, refunds   string
	open, setBalance, addPayment, setRefunded, end string
	addRefund, payment                             string
}

const orderColumns = "o.id, o.user_name, o.lines::text, o.currency, o.total_minor, o.status, o.balance_minor, o.number, o.revision, o.created_at, o.updated_at"

const paymentColumns = "p.id, p.user_name, p.currency, p.amount_minor, p.balance_minor, p.refunded_minor, p.created_at"

// synced has a commit wait for the disk even where the server's default is not
// to: what is acknowledged stays.
const synced = "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"

func newStatements(schema string) statements {
	in := func(text string) string { return strings.ReplaceAll(text, "SCHEMA", schema) }
	orders := "SELECT " + orderColumns + " FROM SCHEMA.orders o "
	return statements{
		lock: "SELECT pg_advisory_xact_lock($1), " + synced,

		// It cannot fail for one row: what is there already is left out.
		add: in(`INSERT INTO SCHEMA.orders AS o (number, id, user_name, lines, currency, total_minor, status, balance_minor, revision, created_at, updated_at)
			SELECT nextval('SCHEMA.order_numbers'), t.id, t.user_name, t.lines::json, t.currency, t.total, 'pending', 0, nextval('SCHEMA.order_revisions'), t.at, t.at
			FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[]) AS t (id, user_name, lines, currency, total, at)
			ON CONFLICT (id) DO NOTHING RETURNING o.id, o.number, o.revision`),
		settle: in(`UPDATE SCHEMA.orders o SET status = t.status, balance_minor = t.balance, updated_at = t.at, revision = nextval('SCHEMA.order_revisions')
			FROM unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[]) AS t (id, status, balance, at)
			WHERE o.id = t.id AND o.status = 'pending' RETURNING ` + orderColumns),
		byIDs:    in(orders + "WHERE o.id = ANY ($1)"),
		byID:     in(orders + "WHERE o.id = $1"),
		before:   in(orders + "WHERE o.number < $1 ORDER BY o.number DESC LIMIT $2"),
		beforeOf: in(orders + "WHERE o.user_name = $1 AND o.number < $2 ORDER BY o.number DESC LIMIT $3"),
		changes:  in(orders + "WHERE o.revision > $1 ORDER BY o.revision LIMIT $2"),
		pending:  in(orders + "WHERE o.status = 'pending' AND o.created_at < $1 ORDER BY o.created_at, o.number LIMIT $2"),

		begin: "BEGIN ISOLATION LEVEL READ COMMITTED",
		sync:  "SELECT " + synced, // not beside rows, of which there may be none
		// In one order for all, or two batches could wait for each other.
		lockAccounts: in(`SELECT a.user_name, a.currency, a.balance_minor FROM SCHEMA.accounts a WHERE (a.user_name, a.currency) IN (
				SELECT t.user_name, t.currency FROM unnest($1::text[], $2::text[]) AS t (user_name, currency)
				UNION ALL SELECT p.user_name, p.currency FROM SCHEMA.payments p WHERE p.id = ANY ($3))
			ORDER BY a.user_name, a.currency FOR UPDATE OF a`),
		payments: in("SELECT " + paymentColumns + " FROM SCHEMA.payments p WHERE p.id = ANY ($1)"),
		payment:  in("SELECT " + paymentColumns + " FROM SCHEMA.payments p WHERE p.id = $1"),
		refunds: in(`SELECT r.payment_id, r.id, r.asked_minor, r.given_minor, r.refunded_minor, r.balance_minor FROM SCHEMA.refunds r
			JOIN unnest($1::text[], $2::text[]) AS t (payment_id, id) ON r.payment_id = t.payment_id AND r.id = t.id`),
		open: in("INSERT INTO SCHEMA.accounts (user_name, currency, balance_minor) SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])"),
		setBalance: in(`UPDATE SCHEMA.accounts a SET balance_minor = t.balance FROM unnest($1::text[], $2::text[], $3::bigint[]) AS t (user_name, currency, balance)
			WHERE a.user_name = t.user_name AND a.currency = t.currency`),
		addPayment: in(`INSERT INTO SCHEMA.payments (id, user_name, currency, amount_minor, balance_minor, refunded_minor, created_at)
			SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::timestamptz[])`),
		setRefunded: in(`UPDATE SCHEMA.payments p SET refunded_minor = t.refunded FROM unnest($1::text[], $2::bigint[]) AS t (id, refunded) WHERE p.id = t.id`),
		addRefund: in(`INSERT INTO SCHEMA.refunds (payment_id, id, asked_minor, given_minor, refunded_minor, balance_minor)
			SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])`),
		end: "COMMIT",
	}
}
