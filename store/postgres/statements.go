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
	// statements
	lockPuts, newestStatement, put, putLast  string
	statement, statementsAfter, statementsOf string
	countStatements, orderByIndex            string
	// visits
	addVisit, changeVisit, visit, visitsByIDs string
	visitsBefore, visitsOf                    string
}

const orderColumns = "o.id, o.user_name, o.lines::text, o.currency, o.total_minor, o.status, o.balance_minor, o.number, o.revision, o.created_at, o.updated_at"

const paymentColumns = "p.id, p.user_name, p.currency, p.amount_minor, p.balance_minor, p.refunded_minor, p.created_at"

const statementColumns = "s.number, s.id, s.subject, s.updated_at, s.body"

const visitColumns = "v.number, v.id, v.patient, v.status, v.procedures::text, v.signed_by, v.revision, v.created_at, v.updated_at, v.added_patient, v.added_procedures::text"

// synced has a commit wait for the disk even where the server's default is not
// to: what is acknowledged stays.
const synced = "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)"

func newStatements(schema string) statements {
	in := func(text string) string { return strings.ReplaceAll(text, "SCHEMA", schema) }
	orders := "SELECT " + orderColumns + " FROM SCHEMA.orders o "
	all := statements{
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
	all.addClinical(in)
	return all
}

func (all *statements) addClinical(in func(string) string) {
	statements := "SELECT " + statementColumns + " FROM SCHEMA.statements s "
	visits := "SELECT " + visitColumns + " FROM SCHEMA.visits v "
	given := `FROM unnest($1::text[], $2::text[], $3::bytea[], $4::timestamptz[]) WITH ORDINALITY AS t (id, subject, body, at, n)`
	replace := `ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, updated_at = excluded.updated_at, body = excluded.body`

	// A plan that was made while the table was small stays, and must not be one
	// that reads all of it; and to compile one takes longer than to carry it out.
	const byIndex = "set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)"
	all.lockPuts = "SELECT pg_advisory_xact_lock($1), " + byIndex + ", " + synced
	all.newestStatement = in("SELECT coalesce(max(s.number), 0) FROM SCHEMA.statements s")
	// What is kept already is left out before it conflicts: a row that conflicts
	// is locked, which writes to it, and its number is used up.
	all.put = in(`WITH changed AS (
			SELECT t.*, row_number() OVER (ORDER BY t.n) AS nth ` + given + `
			WHERE (SELECT s.subject = t.subject AND s.body = t.body FROM SCHEMA.statements s WHERE s.id = t.id) IS NOT TRUE)
		, kept AS (INSERT INTO SCHEMA.statements AS s (number, id, subject, updated_at, body)
			SELECT (SELECT coalesce(max(s.number), 0) FROM SCHEMA.statements s) + c.nth, c.id, c.subject, c.at, c.body FROM changed c ORDER BY c.nth
			` + replace + ` RETURNING s.id, s.number)
		SELECT c.n, k.number FROM kept k JOIN changed c ON c.id = k.id`)
	all.putLast = in(`INSERT INTO SCHEMA.statements AS s (number, id, subject, updated_at, body)
		SELECT -t.n, t.id, t.subject, t.at, t.body ` + given + ` ` + replace) // each of them is there
	all.statement = in(statements + "WHERE s.id = $1")
	all.statementsAfter = in(statements + "WHERE s.number > $1 ORDER BY s.number LIMIT $2")
	all.statementsOf = in(statements + "WHERE s.subject = $3 AND s.number > $1 ORDER BY s.number LIMIT $2")
	all.countStatements = in("SELECT count(*) FROM SCHEMA.statements")
	// To sort, the server would read all rows before it sends the first.
	all.orderByIndex = "SELECT set_config('enable_sort', 'off', true), " + byIndex

	all.addVisit = in(`INSERT INTO SCHEMA.visits AS v (number, id, patient, status, procedures, signed_by, revision, created_at, updated_at, added_patient, added_procedures)
		VALUES ((SELECT coalesce(max(v.number), 0) + 1 FROM SCHEMA.visits v), $1, $2, $3, $4::text::json, '', 1, $5, $6, $7, $8::text::json)
		ON CONFLICT (id) DO NOTHING RETURNING ` + visitColumns)
	all.changeVisit = in(`UPDATE SCHEMA.visits v SET patient = $1, status = $2, procedures = $3::text::json, signed_by = $4, updated_at = $5, revision = v.revision + 1
		WHERE v.id = $6 AND v.revision = $7 RETURNING ` + visitColumns)
	all.visit = in(visits + "WHERE v.id = $1")
	all.visitsByIDs = in(visits + "WHERE v.id = ANY ($1)")
	all.visitsBefore = in(visits + "WHERE v.number < $1 ORDER BY v.number DESC LIMIT $2")
	all.visitsOf = in(visits + "WHERE v.patient = $3 AND v.number < $1 ORDER BY v.number DESC LIMIT $2")
}
