package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]address{
		"postgres://": {server: "postgres://", schema: "tare", group: true},
		"postgres://u:p@h:1,h2:2/d?sslmode=disable":                  {server: "postgres://u:p@h:1,h2:2/d?sslmode=disable", schema: "tare", group: true},
		"postgres:///d?host=/run/pg&commit=each":                     {server: "postgres:///d?host=/run/pg", schema: "tare"},
		"postgres://h/d?commit=each&schema=a%2Bb&application_name=x": {server: "postgres://h/d?application_name=x", schema: "a+b"},
		"postgres://h/d?schema=a&commit=group":                       {server: "postgres://h/d", schema: "a", group: true},
	} {
		if got, err := parseAddress(text); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"postgres":                               "write postgres://USER@HOST/DATABASE",
		"postgres:h":                             "write postgres://USER@HOST/DATABASE",
		"postgres://h/d?commit=never":            "neither group nor each",
		"postgres://h/d?schema=":                 "names no schema",
		"postgres://h/d?schema=pg_catalog":       "names no schema",
		"postgres://h/d?schema=%00":              "names no schema",
		"postgres://h/d?schema=%zz":              "names no schema",
		"postgres://h/d?sslmode=perhaps":         "sslmode",
		"postgres://u:hunter2@h/d?sslmode=maybe": "driver cannot read it",
		"postgres://u:hun/ter2@h/d":              "percent-encode",
		"postgres:///d?password=hunter2&port=x":  "driver cannot read it",
	} {
		s, err := Kind{}.Open(t.Context(), text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "open store postgres") {
			t.Errorf("Open(%q) = %v, %v; want an error with %q", text, s, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "hun") || strings.Contains(err.Error(), "ter2")) {
			t.Errorf("Open(%q): the error tells the password: %v", text, err)
		}
	}
}

func TestApart(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://h/d": "postgres://h/d?schema=tare-b0-rest",
		"postgres://u:p@h/d?commit=each&schema=x&sslmode=disable": "postgres://u:p@h/d?commit=each&sslmode=disable&schema=x-b0-rest",
	} {
		if got, err := (Kind{}).Apart(text, "b0-rest"); err != nil || got != want {
			t.Errorf("Apart(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	if got, err := (Kind{}).Apart("postgres://u:hunter2@h/d?commit=never", "x"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Apart of a bad address = %q, %v; want an error without its password", got, err)
	}
	long, err := Kind{}.Apart("postgres://h/d", strings.Repeat("rest+json", 20))
	if err != nil {
		t.Fatal(err)
	}
	if a, err := parseAddress(long); err != nil || len(a.schema) != longestName {
		t.Errorf("%s is %+v, %v; want a schema of %d bytes", long, a, err, longestName)
	}
}

// session is a connection beside any store, as another program has it.
func session(t *testing.T, server string, texts ...string) *pgx.Conn {
	t.Helper()
	a, err := parseAddress(server)
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), a.server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	for _, text := range texts {
		if _, err := c.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return c
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	server := postgrestest.New(t, "fsync=off", "max_connections=5", "superuser_reserved_connections=2")
	at := func(user, database string) string {
		return fmt.Sprintf("postgres://%s:hunter2@/%s?host=%s", user, database, server.Folder())
	}
	root := session(t, server.Address(),
		"CREATE ROLE plain LOGIN",
		"CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'",
		"CREATE SCHEMA other; CREATE TABLE other.notes (text text)",
		"CREATE SCHEMA granted AUTHORIZATION plain")
	s := opened(t, at("postgres", "postgres")+"&schema=newer")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Exec(t.Context(), "UPDATE newer.tare_schema SET version = 99"); err != nil {
		t.Fatal(err)
	}
	for address, c := range map[string]struct {
		want   string
		passes bool
	}{
		"postgres://postgres:hunter2@127.0.0.1:1/db":                                    {"database db at 127.0.0.1:1: see whether the server runs", true},
		"postgres://postgres:hunter2@/db?host=" + t.TempDir():                           {"see whether the server runs", true},
		at("postgres", "none"):                                                          {"no such database: make it", false},
		at("nobody", "postgres"):                                                        {"does not let this user in", false},
		at("postgres", "ascii"):                                                         {"encoding is SQL_ASCII: create one with", false},
		at("postgres", "postgres") + "&schema=other":                                    {"holds another program's tables: name another (?schema=NAME)", false},
		at("postgres", "postgres") + "&schema=newer":                                    {fmt.Sprintf("version 99 and this program knows %d: use the newer program", len(migrations)), false},
		at("plain", "postgres"):                                                         {"GRANT CREATE ON DATABASE", false},
		at("postgres", "postgres") + "&comit=each":                                      {"an option of the address is not known", false},
		at("postgres", "postgres") + "&options=-c%20default_transaction_read_only%3Don": {"can only be read: name the primary", true},
	} {
		s, err := Kind{}.Open(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, store.ErrUnavailable) != c.passes || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Open %s = %v, %v; want an error with %q that may pass: %v", address, s, err, c.want, c.passes)
		}
	}
	granted := opened(t, at("plain", "postgres")+"&schema=granted")
	if err := granted.Close(); err != nil {
		t.Error(err)
	}
	for left := 1; left > 0; { // the server lets go of a connection some time after it was closed
		if err := root.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = 'plain'").Scan(&left); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		session(t, at("plain", "postgres"))
	}
	if s, err := (Kind{}).Open(t.Context(), at("plain", "postgres")+"&schema=granted"); err == nil || !strings.Contains(err.Error(), "no connection left: raise its max_connections") {
		t.Errorf("Open with all connections taken = %v, %v", s, err)
	}
}

func TestRemedies(t *testing.T) {
	c, err := pgx.ParseConfig("postgres://u:hunter2@h:7/d")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[string]string{
		"53100": "its disk has no room",
		"53200": "lacks what it needs",
		"08006": "connection failed",
		"57P03": "stops or starts",
		"57014": "statement_timeout",
		"40001": "ask again",
		"3F000": "has been removed",
		"28P01": "does not let this user in",
	} {
		err := explain(c, fmt.Errorf("write: %w", &pgconn.PgError{Code: code, Message: "as the server says"}))
		for _, text := range []string{"database d at h:7", strings.TrimPrefix(want, "its "), "as the server says"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v; want %q", code, err, text)
			}
		}
	}
	if err := explain(c, &pgconn.PgError{Code: "22003"}); errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "22003") {
		t.Errorf("what is not known: %v", err)
	}
}

// Of services that start at one time one makes the schema.
func TestStoresThatOpenAtOneTime(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "")
	errs := make(chan error)
	const services = 8
	for range services {
		go func() {
			s, err := Kind{}.Open(t.Context(), address)
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range services {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestRemove(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "")
	s := opened(t, address)
	if _, err := s.AddOrder(t.Context(), store.Order{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is gone is gone
		if err := (Kind{}).Remove(t.Context(), address); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := s.OrderByID(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "the schema has been removed") || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("OrderByID in a schema that is gone: %+v, %v", o, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := (Kind{}).Remove(t.Context(), "postgres://u:hunter2@127.0.0.1:1/d?schema=x"); !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Remove where no server is: %v", err)
	}
}
