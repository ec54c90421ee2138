package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tare-bench/tare/store"
)

// The options that are tare's own, and do not reach the server.
const (
	commitOption = "commit"
	schemaOption = "schema"
)

// address is a store's address, read.
type address struct {
	server string // what the driver reads
	schema string
	group  bool // commits are shared
}

const defaultSchema = "tare"

// parseAddress takes tare's own options out of an address and leaves the rest,
// which the driver reads as libpq would, as it is.
func parseAddress(text string) (address, error) {
	scheme := Kind{}.Spec().Name + "://"
	if !strings.HasPrefix(text, scheme) {
		return address{}, fmt.Errorf("it names no server: write %sUSER@HOST/DATABASE", scheme)
	}
	a := address{schema: defaultSchema, group: true}
	server, query, _ := strings.Cut(text, "?")
	var others []string
	for option := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(option, "=")
		value, err := url.QueryUnescape(value)
		switch {
		case name == commitOption && err == nil && (value == "group" || value == "each"):
			a.group = value == "group"
		case name == commitOption:
			return a, fmt.Errorf("%s is neither group nor each", option)
		case name == schemaOption && err == nil && validSchema(value):
			a.schema = value
		case name == schemaOption:
			return a, fmt.Errorf("%s names no schema: a name is of 1 to %d bytes, and does not begin with pg_", option, longestName)
		case option != "":
			others = append(others, option)
		}
	}
	a.server = server
	if len(others) > 0 {
		a.server += "?" + strings.Join(others, "&")
	}
	return a, nil
}

const longestName = 63

func validSchema(name string) bool {
	return name != "" && len(name) <= longestName && !strings.HasPrefix(name, "pg_") && store.CheckText(name) == nil
}

// config is what the driver makes of the address.
func (a address) config() (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(a.server)
	if err != nil {
		if store.Redact(a.server) != a.server {
			// The driver's text may quote what stands where it expects a port.
			err = errors.New("the driver cannot read it: percent-encode what is special in user and password, and look at the options")
		}
		return nil, err
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectWithin
	}
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "tare"
	}
	return c, nil
}

// Apart gives a schema of its own in the same database.
func (Kind) Apart(text, name string) (string, error) {
	a, err := parseAddress(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", store.Redact(text), err)
	}
	server, query, _ := strings.Cut(text, "?")
	options := slices.DeleteFunc(strings.Split(query, "&"), func(option string) bool {
		return option == "" || strings.HasPrefix(option, schemaOption+"=")
	})
	schema := store.NameApart(a.schema + "-" + name)
	return server + "?" + strings.Join(append(options, schemaOption+"="+url.QueryEscape(schema)), "&"), nil
}

// Remove drops the schema that Apart named, with all that is in it.
func (Kind) Remove(ctx context.Context, text string) error {
	err := remove(ctx, text)
	if err != nil {
		return fmt.Errorf("remove store %s: %w", store.Redact(text), err)
	}
	return nil
}

func remove(ctx context.Context, text string) error {
	a, err := parseAddress(text)
	if err != nil {
		return err
	}
	c, err := a.config()
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, c.ConnConfig)
	if err != nil {
		return explain(c.ConnConfig, err)
	}
	_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{a.schema}.Sanitize()+" CASCADE")
	return explain(c.ConnConfig, errors.Join(err, conn.Close(ctx)))
}
