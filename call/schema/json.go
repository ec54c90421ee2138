package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// JSON gives a message as JSON for a person: indented, and the same each time,
// which protojson's own is not. The content of an Any whose type no schema has
// is left out, and its type is among unknown.
func JSON(m proto.Message, types protoresolve.SerializationResolver) (text []byte, unknown []string, err error) {
	lenient := &lenientResolver{SerializationResolver: types}
	raw, err := protojson.MarshalOptions{Resolver: lenient, AllowPartial: true}.Marshal(m)
	if err != nil {
		return nil, nil, fmt.Errorf("write JSON of %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	text, err = Indent(raw)
	return text, lenient.missed, err
}

// Indent sets out JSON for a person.
func Indent(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	err := json.Indent(&b, raw, "", "  ")
	return b.Bytes(), err
}

// lenientResolver gives a message without fields for a type that it does not
// find, so that the rest of a reply can be shown.
type lenientResolver struct {
	protoresolve.SerializationResolver
	missed []string
}

func (r *lenientResolver) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	t, err := r.SerializationResolver.FindMessageByURL(url)
	if err == nil {
		return t, nil
	}
	r.missed = append(r.missed, url)
	return fieldless()
}

func fieldless() (protoreflect.MessageType, error) {
	const name = "Unknown"
	f, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("unknown.proto"), MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String(name)}},
	}, nil)
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewMessageType(f.Messages().ByName(name)), nil
}

func template(d protoreflect.MessageDescriptor) ([]byte, error) {
	m := dynamicpb.NewMessage(d)
	fill(m, map[protoreflect.FullName]bool{})
	raw, err := protojson.MarshalOptions{EmitUnpopulated: true, AllowPartial: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write example of %s: %w", d.FullName(), err)
	}
	return Indent(raw)
}

// fill sets fields of m, and of a oneof the first. within holds the types that m
// stands in, since a type may hold itself.
func fill(m protoreflect.Message, within map[protoreflect.FullName]bool) {
	d := m.Descriptor()
	if d.FullName() == "google.protobuf.Value" { // has no zero
		null := d.Fields().ByName("null_value")
		m.Set(null, null.Default())
	}
	if within[d.FullName()] || special(d.FullName()) {
		return
	}
	within[d.FullName()] = true
	defer delete(within, d.FullName())
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if one := f.ContainingOneof(); one != nil && one.Fields().Get(0) != f {
			continue
		}
		switch {
		case f.IsMap():
			v := m.Mutable(f).Map()
			element := v.NewValue()
			if f.MapValue().Message() != nil {
				fill(element.Message(), within)
			}
			v.Set(f.MapKey().Default().MapKey(), element)
		case f.IsList():
			v := m.Mutable(f).List()
			element := v.NewElement()
			if f.Message() != nil {
				fill(element.Message(), within)
			}
			v.Append(element)
		case f.Message() != nil:
			fill(m.Mutable(f).Message(), within)
		default:
			m.Set(f, f.Default())
		}
	}
}

// special says whether JSON has a form of its own for a type, whose zero says
// enough.
func special(name protoreflect.FullName) bool { return name.Parent() == "google.protobuf" }
