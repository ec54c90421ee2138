package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// migrations make, in order, each version of the schema of the one before;
// the table tare_schema says how many were applied. What was released is never
// edited. SCHEMA stands for the quoted name of the schema.
var migrations = []string{
	// 1
	`
CREATE TABLE SCHEMA.orders (
	number bigint PRIMARY KEY,
	id text COLLATE "C" NOT NULL UNIQUE,
	user_name text COLLATE "C" NOT NULL,
	lines json NOT NULL, -- and not jsonb: it comes back as it was, to be compared
	currency text NOT NULL,
	total_minor bigint NOT NULL,
	status text NOT NULL CHECK (status IN ('pending', 'paid', 'refused')),
	balance_minor bigint NOT NULL,
	revision bigint NOT NULL UNIQUE,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL
);
CREATE SEQUENCE SCHEMA.order_numbers OWNED BY SCHEMA.orders.number;
CREATE SEQUENCE SCHEMA.order_revisions OWNED BY SCHEMA.orders.revision;
CREATE INDEX orders_of_user ON SCHEMA.orders (user_name, number);
CREATE INDEX orders_pending ON SCHEMA.orders (created_at, number) WHERE status = 'pending';

CREATE TABLE SCHEMA.accounts (
	user_name text COLLATE "C" NOT NULL,
	currency text COLLATE "C" NOT NULL,
	balance_minor bigint NOT NULL CHECK (balance_minor >= 0),
	PRIMARY KEY (user_name, currency)
);
CREATE TABLE SCHEMA.payments (
	id text COLLATE "C" PRIMARY KEY,
	user_name text COLLATE "C" NOT NULL,
	currency text COLLATE "C" NOT NULL,
	amount_minor bigint NOT NULL CHECK (amount_minor > 0),
	balance_minor bigint NOT NULL, -- of the account after the charge
	refunded_minor bigint NOT NULL CHECK (refunded_minor BETWEEN 0 AND amount_minor),
	created_at timestamptz NOT NULL,
	FOREIGN KEY (user_name, currency) REFERENCES SCHEMA.accounts
);
CREATE TABLE SCHEMA.refunds (
	payment_id text COLLATE "C" NOT NULL REFERENCES SCHEMA.payments,
	id text COLLATE "C" NOT NULL,
	asked_minor bigint NOT NULL, -- 0: all that was left
	given_minor bigint NOT NULL CHECK (given_minor > 0),
	refunded_minor bigint NOT NULL, -- of the payment until then
	balance_minor bigint NOT NULL, -- of the account after the refund
	PRIMARY KEY (payment_id, id)
);
`,
	// 2
	`
CREATE TABLE SCHEMA.statements (
	number bigint PRIMARY KEY,
	id text COLLATE "C" NOT NULL UNIQUE,
	subject text COLLATE "C" NOT NULL,
	updated_at timestamptz NOT NULL,
	body bytea NOT NULL
);
CREATE INDEX statements_of_subject ON SCHEMA.statements (subject, number);

CREATE TABLE SCHEMA.visits (
	number bigint PRIMARY KEY,
	id text COLLATE "C" NOT NULL UNIQUE,
	patient text COLLATE "C" NOT NULL,
	status text NOT NULL CHECK (status IN ('created', 'in progress', 'signed')),
	procedures json NOT NULL,
	signed_by text NOT NULL,
	revision bigint NOT NULL,
	created_at timestamptz NOT NULL,
	updated_at timestamptz NOT NULL,
	added_patient text NOT NULL, -- with which it was added, to know it again
	added_procedures json NOT NULL
);
CREATE INDEX visits_of_patient ON SCHEMA.visits (patient, number);
`,
}

// lockKey is of an advisory lock that all stores of a schema share. Such locks
// are known by number alone, so that what takes them must draw it from names.
func lockKey(schema, what string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("tare " + what + " " + schema))
	return int64(h.Sum64())
}

// migrate brings a schema to the newest version, in one transaction. Of services
// that start at one time the first does it, and the others find it done.
func migrate(ctx context.Context, c *pgx.Conn, schema string) error {
	var encoding string
	if err := c.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database's encoding is %s: create one with ENCODING 'UTF8'", encoding)
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", lockKey(schema, "migrations")); err != nil {
			return err
		}
		quoted := pgx.Identifier{schema}.Sanitize()
		version, err := schemaVersion(ctx, tx, schema, quoted)
		if err != nil || version == len(migrations) {
			return err
		}
		for ; version < len(migrations); version++ {
			if _, err := tx.Exec(ctx, strings.ReplaceAll(migrations[version], "SCHEMA", quoted)); err != nil {
				return fmt.Errorf("migrate to version %d of the schema: %w", version+1, err)
			}
		}
		_, err = tx.Exec(ctx, "UPDATE "+quoted+".tare_schema SET version = $1", version)
		return err
	})
}

// schemaVersion gives the version of a schema, which it makes where there is
// none, and refuses one that is another program's, or a newer tare's.
func schemaVersion(ctx context.Context, tx pgx.Tx, schema, quoted string) (version int, err error) {
	var exists, ours, used bool
	err = tx.QueryRow(ctx, `SELECT n.oid IS NOT NULL,
			EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'tare_schema'),
			EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid)
		FROM (SELECT $1::name AS wanted) w LEFT JOIN pg_namespace n ON n.nspname = w.wanted`, schema).Scan(&exists, &ours, &used)
	switch {
	case err != nil:
		return 0, err
	case ours:
		if err := tx.QueryRow(ctx, "SELECT version FROM "+quoted+".tare_schema").Scan(&version); err != nil {
			return 0, err
		}
		if version > len(migrations) {
			return 0, fmt.Errorf("its schema %s is of version %d and this program knows %d: use the newer program that wrote it, or another schema (?%s=NAME)", schema, version, len(migrations), schemaOption)
		}
		return version, nil
	case used:
		return 0, fmt.Errorf("its schema %s holds another program's tables: name another (?%s=NAME)", schema, schemaOption)
	}
	if !exists { // to ask for it otherwise takes a right that the user may not have
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+quoted); err != nil {
			return 0, err
		}
	}
	_, err = tx.Exec(ctx, "CREATE TABLE "+quoted+".tare_schema (version integer NOT NULL); INSERT INTO "+quoted+".tare_schema VALUES (0)")
	return 0, err
}
