package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tare-bench/tare/store"
)

// remedy is what is known of a kind of failure.
type remedy struct {
	passes bool // it may pass: to ask again, now or later, may help
	text   string
}

// remedies are by SQLSTATE, or by its class where that is not listed.
var remedies = map[string]remedy{
	"08":    {true, "the connection failed: see whether the server runs"},
	"40001": {true, "transactions were in each other's way: ask again"},
	"40P01": {true, "transactions were in each other's way: ask again"},
	"55P03": {true, "something else holds a lock: end that, or wait for it"},
	"57014": {true, "the server gave the statement up: see its statement_timeout"},
	"57P":   {true, "the server stops or starts: wait until it is ready"},
	"53100": {true, "the server's disk has no room: make some"},
	"53300": {true, "the server has no connection left: raise its max_connections, or end clients"},
	"53":    {true, "the server lacks what it needs: see its log"},
	"25006": {true, "the server can only be read: name the primary (target_session_attrs=read-write)"},
	"28":    {false, "the server does not let this user in: see user, password and its pg_hba.conf"},
	"3D000": {false, "there is no such database: make it (createdb), or name another"},
	"42501": {false, "the user may not do this: GRANT CREATE ON DATABASE, or have its owner make the schema and let the user own it"},
	"42P01": {false, "the schema has been removed, or was never finished: start the service again to make it"},
	"3F000": {false, "the schema has been removed: start the service again to make it"},
	"42704": {false, "an option of the address is not known: it is neither tare's, nor the driver's, nor the server's"},
	"22021": {false, "text holds what the database cannot keep"},
	"XX001": {false, "the server's data is damaged: restore it from a backup"},
	"XX002": {false, "an index is damaged: REINDEX, and find out why"},
}

// connectionLost is for what the driver says of a server that does not answer.
var connectionLost = remedy{true, "see whether the server runs and can be reached from here"}

// known finds the remedy for an error of the driver.
func known(err error) (remedy, bool) {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		for _, code := range []string{said.Code, said.Code[:min(3, len(said.Code))], said.Code[:min(2, len(said.Code))]} {
			if r, ok := remedies[code]; ok {
				return r, true
			}
		}
		return remedy{}, false
	}
	return connectionLost, lost(err)
}

// lost says whether an error is of the connection, or of what ended it.
func lost(err error) bool {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return strings.HasPrefix(said.Code, "57P") || strings.HasPrefix(said.Code, "08")
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded)
}

// failure is a failure of the server or of the way to it. It wraps
// store.ErrUnavailable where it may pass.
type failure struct {
	where, text string
	kind        error // or nil
	err         error
}

// Error is one line: the driver gives one for each host that it tried.
func (f *failure) Error() string {
	return fmt.Sprintf("%s: %s: %s", f.where, f.text, strings.Join(strings.Fields(f.err.Error()), " "))
}

func (f *failure) Unwrap() []error {
	if f.kind == nil {
		return []error{f.err}
	}
	return []error{f.kind, f.err}
}

// explain names the server in an error, and the remedy where there is one.
func explain(c *pgx.ConnConfig, err error) error {
	if err == nil {
		return nil
	}
	var done *failure
	if errors.As(err, &done) {
		return err
	}
	r, ok := known(err)
	if !ok {
		return fmt.Errorf("%s: %w", where(c), err)
	}
	f := &failure{where: where(c), text: r.text, err: err}
	if r.passes {
		f.kind = store.ErrUnavailable
	}
	return f
}

// where names a database, without what is secret.
func where(c *pgx.ConnConfig) string {
	host := fmt.Sprintf("%s:%d", c.Host, c.Port)
	if strings.HasPrefix(c.Host, "/") {
		host = c.Host
	}
	return fmt.Sprintf("database %s at %s", c.Database, host)
}
