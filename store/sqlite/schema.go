package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// applicationID marks a file as tare's: "tare".
const applicationID = 0x74617265

// migrations make, in order, each version of the schema of the one before;
// user_version says how many were applied. What was released is never edited.
var migrations = []string{
	// 1
	`
CREATE TABLE orders (
	number INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	user_name TEXT NOT NULL,
	lines TEXT NOT NULL, -- JSON
	currency TEXT NOT NULL,
	total_minor INTEGER NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('pending', 'paid', 'refused')),
	balance_minor INTEGER NOT NULL,
	revision INTEGER NOT NULL UNIQUE,
	created_us INTEGER NOT NULL, -- microseconds since 1970, UTC
	updated_us INTEGER NOT NULL
) STRICT;
CREATE INDEX orders_of_user ON orders (user_name, number);
CREATE INDEX orders_pending ON orders (created_us, number) WHERE status = 'pending';

CREATE TABLE accounts (
	user_name TEXT NOT NULL,
	currency TEXT NOT NULL,
	balance_minor INTEGER NOT NULL CHECK (balance_minor >= 0),
	PRIMARY KEY (user_name, currency)
) STRICT, WITHOUT ROWID;
CREATE TABLE payments (
	id TEXT NOT NULL PRIMARY KEY,
	user_name TEXT NOT NULL,
	currency TEXT NOT NULL,
	amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
	balance_minor INTEGER NOT NULL, -- of the account after the charge
	refunded_minor INTEGER NOT NULL DEFAULT 0 CHECK (refunded_minor BETWEEN 0 AND amount_minor),
	created_us INTEGER NOT NULL,
	FOREIGN KEY (user_name, currency) REFERENCES accounts
) STRICT, WITHOUT ROWID;
CREATE TABLE refunds (
	payment_id TEXT NOT NULL REFERENCES payments,
	id TEXT NOT NULL,
	asked_minor INTEGER NOT NULL, -- 0: all that was left
	given_minor INTEGER NOT NULL CHECK (given_minor > 0),
	refunded_minor INTEGER NOT NULL, -- of the payment until then
	balance_minor INTEGER NOT NULL, -- of the account after the refund
	PRIMARY KEY (payment_id, id)
) STRICT, WITHOUT ROWID;
`,
	// 2
	`
CREATE TABLE statements (
	number INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	subject TEXT NOT NULL,
	updated_us INTEGER NOT NULL,
	body BLOB NOT NULL -- last: what goes to other pages is read by who wants it alone
) STRICT;
CREATE INDEX statements_of_subject ON statements (subject, number);

CREATE TABLE visits (
	number INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	patient TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('created', 'in progress', 'signed')),
	procedures TEXT NOT NULL, -- JSON
	signed_by TEXT NOT NULL,
	revision INTEGER NOT NULL,
	created_us INTEGER NOT NULL,
	updated_us INTEGER NOT NULL,
	added_patient TEXT NOT NULL, -- with which it was added, to know it again
	added_procedures TEXT NOT NULL
) STRICT;
CREATE INDEX visits_of_patient ON visits (patient, number);
`,
}

// migrate brings a database to the newest schema, in one transaction, so that
// of two processes that open it at one time the second finds it done.
func migrate(ctx context.Context, c *sql.Conn) (err error) {
	if err := identify(ctx, c); err != nil { // before anything is written to it
		return err
	}
	var mode string
	if err := c.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file system lets SQLite keep no write-ahead log (journal_mode is %s): name a file on a local disk", mode)
	}
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, undo := c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, undo)
		}
	}()
	version, err := schemaVersion(ctx, c)
	if err != nil {
		return err
	}
	for ; version < len(migrations); version++ {
		if _, err := c.ExecContext(ctx, migrations[version]); err != nil {
			return fmt.Errorf("migrate to version %d of the schema: %w", version+1, err)
		}
	}
	if _, err := c.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version)); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "COMMIT")
	return err
}

// identify refuses a database that is another program's, or a newer tare's.
func identify(ctx context.Context, c *sql.Conn) error {
	var application, objects int
	if err := c.QueryRowContext(ctx, "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id").Scan(&application, &objects); err != nil {
		return err
	}
	if application != applicationID && (application != 0 || objects > 0) {
		return errors.New("it is another program's database: name another file")
	}
	version, err := schemaVersion(ctx, c)
	if err == nil && version > len(migrations) {
		err = fmt.Errorf("its schema is of version %d and this program knows %d: use the newer program that wrote it, or another file", version, len(migrations))
	}
	return err
}

func schemaVersion(ctx context.Context, c *sql.Conn) (version int, err error) {
	err = c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}
