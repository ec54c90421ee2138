package protocol

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tare-bench/tare/rpc"
)

// Field is one header field; Name is in lower case.
type Field = rpc.Field

// Crossing is which header fields cross with a call, made ready for one
// protocol's calls. With none, it costs them nothing.
type Crossing struct {
	names []string
	keys  []string // as http.Header has the names
}

// reserved are names that protocols, or HTTP, have a use for; a "-" at an end
// stands for all that begin so. Those for bytes go otherwise than text in gRPC.
var reserved = []string{
	"accept", "accept-", "connect-", "connection", "content-", "date", "expect", "grpc-", "host", "keep-alive",
	"proxy-", "te", "trailer", "trailer-", "transfer-encoding", "upgrade", "user-agent",
}

const (
	mostFields  = 32
	bytesSuffix = "-bin"
)

// Crossing checks o.Fields.
func (o Options) Crossing() (Crossing, error) {
	var c Crossing
	if len(o.Fields) > mostFields {
		return c, fmt.Errorf("%d fields are to cross with calls, want at most %d", len(o.Fields), mostFields)
	}
	for _, name := range o.Fields {
		if err := rpc.CheckField(Field{Name: name}); err != nil {
			return c, fmt.Errorf("what crosses with calls: %w", err)
		}
		own := slices.ContainsFunc(reserved, func(r string) bool {
			return name == r || strings.HasSuffix(r, "-") && strings.HasPrefix(name, r)
		})
		switch {
		case own || strings.HasSuffix(name, bytesSuffix):
			return c, fmt.Errorf("what crosses with calls: field %s is the protocols' own, name another", name)
		case slices.Contains(c.names, name):
			return c, fmt.Errorf("what crosses with calls: field %s stands twice", name)
		}
		c.names = append(c.names, name)
		c.keys = append(c.keys, http.CanonicalHeaderKey(name))
	}
	return c, nil
}

// None says that no field crosses.
func (c Crossing) None() bool { return len(c.names) == 0 }

// In gives ctx the fields that came with a call; values gives those of a name.
// An error is the call's answer.
func (c Crossing) In(ctx context.Context, values func(name string) []string) (context.Context, error) {
	var fields []Field
	for _, name := range c.names {
		var err error
		if fields, err = came(fields, name, values(name)); err != nil {
			return nil, err
		}
	}
	return with(ctx, fields), nil
}

// FromHeader is In for a request of HTTP.
func (c Crossing) FromHeader(ctx context.Context, h http.Header) (context.Context, error) {
	var fields []Field
	for i, name := range c.names {
		var err error
		if fields, err = came(fields, name, h[c.keys[i]]); err != nil {
			return nil, err
		}
	}
	return with(ctx, fields), nil
}

func with(ctx context.Context, fields []Field) context.Context {
	if len(fields) == 0 {
		return ctx
	}
	return rpc.WithFieldsIn(ctx, fields)
}

// came appends the field of a name. Several are one list, as in HTTP: for a
// field that is no list that is a value that nobody takes. A tab in HTTP is a
// space. Source: RFC 9110, sections 5.3 and 5.5.
func came(fields []Field, name string, values []string) ([]Field, error) {
	if len(values) == 0 {
		return fields, nil
	}
	value := values[0]
	if len(values) > 1 {
		value = strings.Join(values, ", ")
	}
	f := Field{Name: name, Value: strings.Trim(strings.ReplaceAll(value, "\t", " "), " ")}
	if f.Value == "" {
		return fields, nil
	}
	if err := rpc.CheckField(f); err != nil {
		return nil, rpc.Errorf(rpc.InvalidArgument, "%v", err)
	}
	return append(fields, f), nil
}

// Out gives the fields of ctx that go out with a call. An error ends the call.
func (c Crossing) Out(ctx context.Context) ([]Field, error) {
	if c.None() {
		return nil, nil
	}
	var out []Field
	for _, f := range rpc.FieldsOut(ctx) {
		if !slices.Contains(c.names, f.Name) {
			continue
		}
		if err := rpc.CheckField(f); err != nil {
			return nil, rpc.Errorf(rpc.InvalidArgument, "%v", err)
		}
		out = append(out, f)
	}
	return out, nil
}

// ToHeader is Out for a request of HTTP.
func (c Crossing) ToHeader(ctx context.Context, h http.Header) error {
	out, err := c.Out(ctx)
	for _, f := range out {
		h[http.CanonicalHeaderKey(f.Name)] = []string{f.Value}
	}
	return err
}
