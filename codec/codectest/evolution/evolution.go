// Package evolution finds out what becomes of messages whose schema changes while
// services of both versions run: an old reader meets a new writer, and the
// reverse. Each change stands by itself, so that one that a codec cannot live
// with hides none of the others.
//
// It knows no codec. One with a schema of its own is Versioned, or is wrapped in
// what is; one that binds neither version is not tested, and is said to be so.
package evolution

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Versioned is a codec with a schema of its own, which it has for both versions
// of the types here, by their names (tare.evolution.v1.Grown and so on), or that
// reads by the schema of who wrote. An error that wraps codec.ErrUnbound says
// that it has none.
type Versioned interface {
	codec.Codec
	BindVersions(writer, reader *rpc.Type) (w, r codec.Binding, err error)
}

// Resolving is a codec that reads by the schema of who wrote, where it is told. It
// is tried both with that and without: no protocol here sends schemas.
type Resolving interface {
	codec.Codec
	// Written is the schema that Bind's binding of t writes by, as text.
	Written(t *rpc.Type) (string, error)
	BindWritten(reader *rpc.Type, schema string) (codec.Binding, error)
}

// Told is a codec that is told the schema of who wrote.
func Told(k Resolving) Versioned { return told{k} }

type told struct{ Resolving }

func (t told) Spec() codec.Spec {
	s := t.Resolving.Spec()
	s.Name += ", told the writer's schema"
	return s
}

func (t told) BindVersions(writer, reader *rpc.Type) (w, r codec.Binding, err error) {
	schema, err := t.Written(writer)
	if err != nil {
		return nil, nil, err
	}
	if w, err = t.Bind(writer); err != nil {
		return nil, nil, err
	}
	if r, err = t.BindWritten(reader, schema); err != nil {
		return w, refusing{err}, nil //nolint:nilerr // that two schemas cannot be resolved is the answer
	}
	return w, r, nil
}

// refusing reads nothing.
type refusing struct{ why error }

func (refusing) Native(plain any) any                 { return plain }
func (refusing) Plain(native any) any                 { return native }
func (r refusing) Append([]byte, any) ([]byte, error) { return nil, r.why }
func (r refusing) Parse([]byte) (any, error)          { return nil, r.why }

// Outcome is what becomes of a change.
type Outcome string

// The outcomes. Wrong is the only one that nobody notices and that is no default.
const (
	Kept      Outcome = "kept"       // all that both versions know arrives as it was sent
	Lost      Outcome = "lost"       // the field that changed arrives empty, and nobody is told
	Refused   Outcome = "error"      // the reader refuses the message
	Unwritten Outcome = "no write"   // the writer has no form for it
	Wrong     Outcome = "wrong"      // something else arrives, and nobody is told
	Untested  Outcome = "not tested" // the codec has no schema for it here
)

// pair is a type before and after a change.
type pair struct{ before, after *rpc.Type }

// Case is one change met from one side.
type Case struct {
	Change string // in words
	Who    string // who writes and who reads
	// Writer writes Sent. The reader's plain value is held against Want, then
	// against Empty, where the field that changed is at its default.
	Writer, Reader    *rpc.Type
	Sent, Want, Empty any
	// Through is a type that reads and writes in between; Mapped says that it
	// does so by way of its plain value, as a service does that has handlers.
	Through *rpc.Type
	Mapped  bool
}

const (
	newToOld = "new writes, old reads"
	oldToNew = "old writes, new reads"
	large    = 1 << 40
)

// Cases are all changes, in the order in which they are listed.
var Cases = []Case{
	{Change: "field added", Who: newToOld, Writer: grown.after, Reader: grown.before, Sent: &grownV2{"k", "n"}, Want: &grownV1{"k"}},
	{Change: "field added", Who: oldToNew, Writer: grown.before, Reader: grown.after, Sent: &grownV1{"k"}, Want: &grownV2{"k", ""}},
	{Change: "field removed", Who: newToOld, Writer: shrunk.after, Reader: shrunk.before, Sent: &shrunkV2{"k"}, Want: &shrunkV1{"k", ""}},
	{Change: "field removed", Who: oldToNew, Writer: shrunk.before, Reader: shrunk.after, Sent: &shrunkV1{"k", "d"}, Want: &shrunkV2{"k"}},
	{Change: "field renamed", Who: newToOld, Writer: renamed.after, Reader: renamed.before, Sent: &renamedV2{"k", "x"}, Want: &renamedV1{"k", "x"}, Empty: &renamedV1{"k", ""}},
	{Change: "field renamed", Who: oldToNew, Writer: renamed.before, Reader: renamed.after, Sent: &renamedV1{"k", "x"}, Want: &renamedV2{"k", "x"}, Empty: &renamedV2{"k", ""}},
	{Change: "enum value renamed", Who: newToOld, Writer: relabelled.after, Reader: relabelled.before, Sent: &relabelledV2{"k", 1}, Want: &relabelledV1{"k", 1}, Empty: &relabelledV1{"k", 0}},
	{Change: "enum value renamed", Who: oldToNew, Writer: relabelled.before, Reader: relabelled.after, Sent: &relabelledV1{"k", 1}, Want: &relabelledV2{"k", 1}, Empty: &relabelledV2{"k", 0}},
	{Change: "enum value added", Who: newToOld, Writer: opened.after, Reader: opened.before, Sent: &openedV2{"k", 2}, Want: &openedV1{"k", 2}, Empty: &openedV1{"k", 0}},
	{Change: "enum value added", Who: oldToNew, Writer: opened.before, Reader: opened.after, Sent: &openedV1{"k", 1}, Want: &openedV2{"k", 1}, Empty: &openedV2{"k", 0}},
	{Change: "int32 made int64, a value of 32 bits", Who: newToOld, Writer: widened.after, Reader: widened.before, Sent: &widenedV2{"k", -7}, Want: &widenedV1{"k", -7}, Empty: &widenedV1{"k", 0}},
	{Change: "int32 made int64, a value of 32 bits", Who: oldToNew, Writer: widened.before, Reader: widened.after, Sent: &widenedV1{"k", -7}, Want: &widenedV2{"k", -7}, Empty: &widenedV2{"k", 0}},
	{Change: "int32 made int64, a value beyond 32 bits", Who: newToOld, Writer: widened.after, Reader: widened.before, Sent: &widenedV2{"k", large + 7}, Empty: &widenedV1{"k", 0}},
	{Change: "field added, message relayed in the native form", Who: "new writes, old relays, new reads", Writer: grown.after, Through: grown.before, Reader: grown.after, Sent: &grownV2{"k", "n"}, Want: &grownV2{"k", "n"}, Empty: &grownV2{"k", ""}},
	{Change: "field added, message relayed as a plain struct", Who: "new writes, old relays, new reads", Writer: grown.after, Through: grown.before, Mapped: true, Reader: grown.after, Sent: &grownV2{"k", "n"}, Want: &grownV2{"k", "n"}, Empty: &grownV2{"k", ""}},
	{Change: "enum value added, message relayed as a plain struct", Who: "new writes, old relays, new reads", Writer: opened.after, Through: opened.before, Mapped: true, Reader: opened.after, Sent: &openedV2{"k", 2}, Want: &openedV2{"k", 2}, Empty: &openedV2{"k", 0}},
}

// Try finds out what becomes of a change with a codec. An error is one of the
// codec's that is no answer.
func Try(k codec.Codec, c Case) (Outcome, error) {
	hops := []*rpc.Type{c.Writer, c.Reader}
	if c.Through != nil {
		hops = []*rpc.Type{c.Writer, c.Through, c.Reader}
	}
	var native, plain any
	for i := 1; i < len(hops); i++ {
		w, r, err := bind(k, hops[i-1], hops[i])
		switch {
		case errors.Is(err, codec.ErrUnbound):
			return Untested, nil
		case err != nil:
			return "", fmt.Errorf("bind %s and %s: %w", hops[i-1].Name, hops[i].Name, err)
		case i == 1:
			native = w.Native(c.Sent)
		case c.Mapped:
			native = w.Native(plain)
		}
		encoded, err := w.Append(nil, native)
		if err != nil {
			return Unwritten, nil //nolint:nilerr // it is the answer
		}
		if native, err = r.Parse(encoded); err != nil {
			return Refused, nil //nolint:nilerr // it is the answer
		}
		if c.Mapped || i == len(hops)-1 {
			plain = r.Plain(native)
		}
	}
	switch {
	case reflect.DeepEqual(plain, c.Want):
		return Kept, nil
	case reflect.DeepEqual(plain, c.Empty):
		return Lost, nil
	}
	return Wrong, nil
}

func bind(k codec.Codec, writer, reader *rpc.Type) (w, r codec.Binding, err error) {
	if v, ok := k.(Versioned); ok {
		return v.BindVersions(writer, reader)
	}
	if w, err = k.Bind(writer); err != nil {
		return nil, nil, err
	}
	r, err = k.Bind(reader)
	return w, r, err
}
