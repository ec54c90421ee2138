// Package idl writes the schemas of schema/capnp, in Cap'n Proto's language, of
// protobuf's. It stands apart from the codec because it must build where
// gen/capnp, which is made of what it writes, is not there yet.
package idl

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/gen/comments"
)

// ID is the ID of what has a full name in a schema that Schema gives: a
// message, an enum, a service, or what a service's method has beside its
// messages. Cap'n Proto finds types by it, whatever they are called.
func ID(fullName string) uint64 {
	sum := sha256.Sum256([]byte("tare/" + fullName))
	return binary.LittleEndian.Uint64(sum[:]) | 1<<63 // as all IDs have it
}

// Schema gives the schema of a package's files in Cap'n Proto's language, for
// Go code in folder gen/capnp/NAME. Fields keep their numbers, one less, and
// their names as in JSON. A message that is absent is a null pointer, and so is
// a scalar that can be: it stands in a struct of its own.
func Schema(name string, files ...protoreflect.FileDescriptor) (string, error) {
	w := &writer{pkg: string(files[0].Package()), boxes: make(map[string]string)}
	w.line(0, "# Made of proto/ by a test of codec/capnp/idl: run make generate, and change nothing here.")
	w.line(0, "@0x%x;", ID(w.pkg))
	w.line(0, `using Go = import "/go.capnp";`)
	w.line(0, `$Go.package("%s");`, name)
	w.line(0, `$Go.import("github.com/tare-bench/tare/gen/capnp/%s");`, name)
	for _, f := range files {
		for i := range f.Services().Len() {
			w.service(f.Services().Get(i))
		}
		for i := range f.Enums().Len() {
			w.enum(f.Enums().Get(i))
		}
		for i := range f.Messages().Len() {
			w.message(f.Messages().Get(i))
		}
	}
	for _, box := range slices.Sorted(maps.Keys(w.boxes)) {
		w.b.WriteString("\n" + w.boxes[box])
	}
	return w.b.String(), w.err
}

// writer writes a schema; its first error stands.
type writer struct {
	b     strings.Builder
	pkg   string
	boxes map[string]string // structs that fields need beside the messages, by name
	err   error
}

func (w *writer) line(depth int, format string, args ...any) {
	fmt.Fprintf(&w.b, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (w *writer) comment(depth int, name protoreflect.FullName) {
	for line := range strings.SplitSeq(comments.Of[string(name)], "\n") {
		if line != "" {
			w.line(depth, "# %s", line)
		}
	}
}

func (w *writer) fail(name protoreflect.FullName, why string) string {
	if w.err == nil {
		w.err = fmt.Errorf("%s: %s", name, why)
	}
	return "Void"
}

func (w *writer) message(m protoreflect.MessageDescriptor) {
	w.b.WriteString("\n")
	w.line(0, "struct %s @0x%x {", m.Name(), ID(string(m.FullName())))
	w.comment(1, m.FullName())
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if int(f.Number()) != i+1 {
			w.fail(f.FullName(), "Cap'n Proto numbers fields without a gap")
		}
		w.line(1, "%s @%d :%s;", f.JSONName(), i, w.kind(f))
		w.comment(1, f.FullName())
	}
	w.line(0, "}")
}

// kind is the type of a field.
func (w *writer) kind(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		key, value := f.MapKey(), f.MapValue()
		name := w.box(strings.ToUpper(f.JSONName()[:1])+f.JSONName()[1:]+"Entry", []string{"key", "value"}, []string{w.one(key), w.one(value)})
		return "List(" + name + ")"
	case f.IsList():
		return "List(" + w.one(f) + ")"
	case f.HasOptionalKeyword():
		kind := w.one(f)
		return w.box("Optional"+kind, []string{"value"}, []string{kind})
	}
	return w.one(f)
}

// one is the type of one value of a field.
func (w *writer) one(f protoreflect.FieldDescriptor) string {
	switch f.Kind() {
	case protoreflect.EnumKind:
		return string(f.Enum().Name())
	case protoreflect.MessageKind:
		return w.nested(f)
	}
	if kind, ok := kinds[f.Kind()]; ok {
		return kind
	}
	return w.fail(f.FullName(), "no type for "+f.Kind().String())
}

func (w *writer) nested(f protoreflect.FieldDescriptor) string {
	m := f.Message()
	switch {
	case string(m.FullName().Parent()) == w.pkg:
		return string(m.Name())
	case m.FullName() == Timestamp:
		return w.box("Timestamp", []string{"seconds", "nanos"}, []string{"Int64", "Int32"})
	case m.FullName() == "google.protobuf.FieldMask":
		return w.box("FieldMask", []string{"paths"}, []string{"List(Text)"})
	case IsWrapper(m):
		kind := w.one(m.Fields().Get(0))
		return w.box("Optional"+kind, []string{"value"}, []string{kind})
	}
	return w.fail(f.FullName(), "a message of another package")
}

// Timestamp is the full name of the message that is a struct of the package's own.
const Timestamp = "google.protobuf.Timestamp"

// IsWrapper says whether m is one of protobuf's messages that only say whether
// a value is there.
func IsWrapper(m protoreflect.MessageDescriptor) bool {
	return m.FullName().Parent() == "google.protobuf" && strings.HasSuffix(string(m.Name()), "Value") && m.Fields().Len() == 1
}

// kinds are protobuf's scalars in Cap'n Proto.
var kinds = map[protoreflect.Kind]string{
	protoreflect.BoolKind:     "Bool",
	protoreflect.Int32Kind:    "Int32",
	protoreflect.Sint32Kind:   "Int32",
	protoreflect.Sfixed32Kind: "Int32",
	protoreflect.Int64Kind:    "Int64",
	protoreflect.Sint64Kind:   "Int64",
	protoreflect.Sfixed64Kind: "Int64",
	protoreflect.DoubleKind:   "Float64",
	protoreflect.StringKind:   "Text",
	protoreflect.BytesKind:    "Data",
}

// box adds a struct that no message is, once, and gives its name.
func (w *writer) box(name string, fields, types []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "struct %s @0x%x {\n", name, ID(w.pkg+"."+name))
	for i := range fields {
		fmt.Fprintf(&b, "  %s @%d :%s;\n", fields[i], i, types[i])
	}
	b.WriteString("}\n")
	w.boxes[name] = b.String()
	return name
}

func (w *writer) enum(e protoreflect.EnumDescriptor) {
	w.b.WriteString("\n")
	w.line(0, "enum %s @0x%x {", e.Name(), ID(string(e.FullName())))
	w.comment(1, e.FullName())
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		if int(v.Number()) != i {
			w.fail(v.FullName(), "Cap'n Proto counts an enum's values from 0 without a gap")
		}
		w.line(1, "%s @%d;", enumerant(e, v), i)
	}
	w.line(0, "}")
}

// enumerant is a value's name without its enum's, which protobuf puts before
// it: IN_PROGRESS of VISIT_STATUS_IN_PROGRESS, as inProgress.
func enumerant(e protoreflect.EnumDescriptor, v protoreflect.EnumValueDescriptor) string {
	var prefix strings.Builder
	for i, c := range string(e.Name()) {
		if i > 0 && 'A' <= c && c <= 'Z' {
			prefix.WriteByte('_')
		}
		prefix.WriteRune(c)
	}
	words := strings.Split(strings.TrimPrefix(string(v.Name()), strings.ToUpper(prefix.String())+"_"), "_")
	for i, word := range words {
		words[i] = strings.ToLower(word)
		if i > 0 {
			words[i] = word[:1] + strings.ToLower(word[1:])
		}
	}
	return strings.Join(words, "")
}
