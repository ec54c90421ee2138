package evolution_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/codectest/evolution"
	"github.com/tare-bench/tare/rpc"
)

var update = flag.Bool("update", false, "write the table anew")

const (
	begin = "<!-- begin: make evolution -->\n"
	end   = "<!-- end -->"
)

// docs/evolution.md says what is so, for every codec of the catalogue.
func TestDocumentedTable(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "evolution.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	said, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has not the two marks of the table", path)
	}
	table, err := evolution.Table(catalog.Default().Codecs)
	if err != nil {
		t.Fatal(err)
	}
	table = "\n" + table + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+table+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if said != table {
		t.Errorf("docs/evolution.md is not what codecs do; make evolution writes it anew. It is:\n%s", table)
	}
}

// What a schema is changed by safely, in the schema of record: of these no codec
// of generated messages may lose anything.
func TestProtobufKeepsWhatItPromises(t *testing.T) {
	k := codecNamed(t, "application/x-protobuf")
	for _, c := range evolution.Cases {
		got, err := evolution.Try(k, c)
		if err != nil {
			t.Fatal(err)
		}
		want := evolution.Kept
		switch {
		case strings.Contains(c.Change, "beyond 32 bits"):
			want = evolution.Wrong // it takes the lower 32 bits, as its language guide says
		case strings.Contains(c.Change, "field added, message relayed as a plain"):
			want = evolution.Lost // a struct holds what it has fields for
		}
		if got != want {
			t.Errorf("%s, %s: %s, want %s", c.Change, c.Who, got, want)
		}
	}
}

func codecNamed(t *testing.T, media string) codec.Codec {
	t.Helper()
	for _, k := range catalog.Default().Codecs {
		if k.Spec().Media == media {
			return k
		}
	}
	t.Fatalf("no codec of %s", media)
	return nil
}

// twisted is a codec whose parts are given, to meet each outcome.
type twisted struct {
	codec.Codec
	bind          error
	append, parse error
	plain         func(any) any
}

func (c twisted) Bind(t *rpc.Type) (codec.Binding, error) {
	if c.bind != nil {
		return nil, c.bind
	}
	b, err := c.Codec.Bind(t)
	return twistedBinding{b, c}, err
}

type twistedBinding struct {
	codec.Binding
	c twisted
}

func (b twistedBinding) Append(dst []byte, native any) ([]byte, error) {
	if b.c.append != nil {
		return dst, b.c.append
	}
	return b.Binding.Append(dst, native)
}

func (b twistedBinding) Parse(src []byte) (any, error) {
	if b.c.parse != nil {
		return nil, b.c.parse
	}
	return b.Binding.Parse(src)
}

func (b twistedBinding) Plain(native any) any {
	if b.c.plain != nil {
		return b.c.plain(native)
	}
	return b.Binding.Plain(native)
}

func TestOutcomes(t *testing.T) {
	sound := codecNamed(t, "application/x-protobuf")
	broken := errors.New("broken")
	renamed := evolution.Cases[4]
	for _, test := range []struct {
		name string
		k    codec.Codec
		want evolution.Outcome
		fail bool
	}{
		{"sound", sound, evolution.Kept, false},
		{"no schema", twisted{Codec: sound, bind: codec.ErrUnbound}, evolution.Untested, false},
		{"a schema that is broken", twisted{Codec: sound, bind: broken}, "", true},
		{"no form", twisted{Codec: sound, append: broken}, evolution.Unwritten, false},
		{"refuses", twisted{Codec: sound, parse: broken}, evolution.Refused, false},
		{"empties", twisted{Codec: sound, plain: func(any) any { return renamed.Empty }}, evolution.Lost, false},
		{"lies", twisted{Codec: sound, plain: func(any) any { return "else" }}, evolution.Wrong, false},
		{"two schemas of its own", versioned{sound}, evolution.Refused, false},
		{"told what it can read", evolution.Told(resolving{sound, renamed.Writer.Name}), evolution.Kept, false},
		{"told what it cannot read", evolution.Told(resolving{sound, "else"}), evolution.Refused, false},
	} {
		got, err := evolution.Try(test.k, renamed)
		if got != test.want || (err != nil) != test.fail {
			t.Errorf("%s: %s, %v; want %s", test.name, got, err, test.want)
		}
	}
}

// versioned refuses whatever the other version wrote.
type versioned struct{ codec.Codec }

func (v versioned) BindVersions(writer, reader *rpc.Type) (w, r codec.Binding, err error) {
	w, err = v.Bind(writer)
	if err != nil {
		return nil, nil, err
	}
	r, err = twisted{Codec: v.Codec, parse: errors.New("of another version")}.Bind(reader)
	return w, r, err
}

// resolving reads by one schema, which is a type's name.
type resolving struct {
	codec.Codec
	reads string
}

func (resolving) Written(t *rpc.Type) (string, error) { return t.Name, nil }

func (r resolving) BindWritten(reader *rpc.Type, schema string) (codec.Binding, error) {
	if schema != r.reads {
		return nil, errors.New("cannot be resolved")
	}
	return r.Bind(reader)
}

func TestResolvingCodecsAreListedTwice(t *testing.T) {
	table, err := evolution.Table([]codec.Codec{resolving{Codec: codecNamed(t, "application/x-protobuf")}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table, "| proto | proto, told the writer's schema |") || !strings.Contains(table, "| kept | error |") {
		t.Errorf("the table is\n%s", table)
	}
}
