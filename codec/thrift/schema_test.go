package thrift_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec/codectest/evolution"
	"github.com/tare-bench/tare/codec/thrift"
	nativeclinical "github.com/tare-bench/tare/gen/thrift/clinical"
	nativeconformance "github.com/tare-bench/tare/gen/thrift/conformance"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// services are those that schema/thrift has, and the interfaces that Thrift's
// compiler has made of them.
var services = map[*rpc.Service]reflect.Type{
	clinical.StatementService: reflect.TypeFor[nativeclinical.StatementService](),
	clinical.VisitService:     reflect.TypeFor[nativeclinical.VisitService](),
	conformance.Service:       reflect.TypeFor[nativeconformance.ConformanceService](),
}

// TestSchemaIsProtobufs holds what is generated from schema/thrift, and so the
// schema itself, to the .proto files: services, messages, fields and enums.
func TestSchemaIsProtobufs(t *testing.T) {
	compared := comparison{seen: map[protoreflect.FullName]bool{}}
	files := map[protoreflect.FileDescriptor]bool{}
	for service, generated := range services {
		for _, fault := range compareService(service, generated) {
			t.Error(fault)
		}
		for _, m := range service.Methods {
			for _, typ := range []*rpc.Type{m.In, m.Out} {
				b, err := thrift.New().Bind(typ)
				if err != nil {
					t.Fatal(err)
				}
				d := typ.NewProto().ProtoReflect().Descriptor()
				files[d.ParentFile()] = true
				compared.message(d, reflect.TypeOf(b.Native(typ.New())))
			}
		}
	}
	for _, c := range evolution.Cases {
		for _, typ := range []*rpc.Type{c.Writer, c.Reader} {
			b, err := thrift.New().Bind(typ)
			if err != nil {
				t.Fatal(err)
			}
			d := typ.NewProto().ProtoReflect().Descriptor()
			files[d.ParentFile()] = true
			compared.message(d, reflect.TypeOf(b.Native(typ.New())))
		}
	}
	for _, fault := range compared.faults {
		t.Error(fault)
	}
	for file := range files {
		for i := range file.Messages().Len() {
			if name := file.Messages().Get(i).FullName(); !compared.seen[name] {
				t.Errorf("%s is in no struct of Thrift's", name)
			}
		}
	}
}

// TestComparisonFindsFaults has structs that differ from a message in one way
// each.
func TestComparisonFindsFaults(t *testing.T) {
	type Range struct {
		From int64  `thrift:"from_,1"`
		To   *int64 `thrift:"to,2"`
	}
	type name struct {
		From int64  `thrift:"first,1"`
		To   *int64 `thrift:"to,2"`
	}
	type number struct {
		From int64  `thrift:"from_,1"`
		To   *int64 `thrift:"to,3"`
	}
	type kind struct {
		From int32  `thrift:"from_,1"`
		To   *int64 `thrift:"to,2"`
	}
	type presence struct {
		From int64 `thrift:"from_,1"`
		To   int64 `thrift:"to,2"`
	}
	type required struct {
		From int64  `thrift:"from_,1,required"`
		To   *int64 `thrift:"to,2"`
	}
	type more struct {
		From int64  `thrift:"from_,1"`
		To   *int64 `thrift:"to,2"`
		Step int64  `thrift:"step,3"`
	}
	message := conformance.Find.In.NewProto().ProtoReflect().Descriptor().Fields().ByName("range").Message()
	for _, wrong := range []any{name{}, number{}, kind{}, presence{}, required{}, more{}, Range{}} {
		c := comparison{seen: map[protoreflect.FullName]bool{}, noMethods: true}
		c.message(message, reflect.PointerTo(reflect.TypeOf(wrong)))
		want := 2 // its own name too
		if wrong == (Range{}) {
			want = 0
		}
		if (len(c.faults) < want) || want == 0 && len(c.faults) > 0 {
			t.Errorf("%T: faults are %q", wrong, c.faults)
		}
	}
}

func compareService(s *rpc.Service, generated reflect.Type) (faults []string) {
	unary := 0
	for _, m := range s.Methods {
		if m.Kind != rpc.Unary {
			continue
		}
		unary++
		method, ok := generated.MethodByName(m.Name)
		if !ok {
			faults = append(faults, m.Path()+" is no method of Thrift's")
			continue
		}
		native := func(t *rpc.Type) string { return t.Name[strings.LastIndexByte(t.Name, '.')+1:] }
		f := method.Type
		if f.NumIn() != 2 || f.In(0) != reflect.TypeFor[context.Context]() || f.In(1).Elem().Name() != native(m.In) ||
			f.NumOut() != 2 || f.Out(0).Elem().Name() != native(m.Out) {
			faults = append(faults, fmt.Sprintf("%s is %v", m.Path(), f))
		}
	}
	if n := generated.NumMethod(); n != unary {
		faults = append(faults, fmt.Sprintf("%s has %d methods, want %d", s.Name, n, unary))
	}
	return faults
}

// comparison holds generated structs to messages, each once.
type comparison struct {
	seen      map[protoreflect.FullName]bool
	faults    []string
	noMethods bool // of types that are made by hand
}

func (c *comparison) fault(d protoreflect.Descriptor, format string, args ...any) {
	c.faults = append(c.faults, string(d.FullName())+": "+fmt.Sprintf(format, args...))
}

// message compares one, and what it holds; pointer is the type of a pointer to
// the struct.
func (c *comparison) message(d protoreflect.MessageDescriptor, pointer reflect.Type) {
	if pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		c.fault(d, "is %v, want a struct", pointer)
		return
	}
	if c.seen[d.FullName()] {
		return
	}
	c.seen[d.FullName()] = true
	s := pointer.Elem()
	if s.Name() != string(d.Name()) {
		c.fault(d, "is called %s", s.Name())
	}
	if got, want := s.NumField(), d.Fields().Len(); got != want {
		c.fault(d, "has %d fields, want %d", got, want)
	}
	for i := range s.NumField() {
		name, rest, _ := strings.Cut(s.Field(i).Tag.Get("thrift"), ",")
		number, requiredness, _ := strings.Cut(rest, ",")
		n, err := strconv.Atoi(number)
		field := d.Fields().ByNumber(protoreflect.FieldNumber(n)) //nolint:gosec // of a field of Thrift's
		if err != nil || field == nil {
			c.fault(d, "has no field %s", number)
			continue
		}
		want := string(field.Name())
		if slices.Contains(reservedNames, field.Name()) {
			want += "_"
		}
		if name != want {
			c.fault(field, "is called %s", name)
		}
		if requiredness != "" {
			c.fault(field, "is %s", requiredness)
		}
		c.field(field, s.Field(i).Type)
		_, optional := pointer.MethodByName("IsSet" + s.Field(i).Name)
		if always := field.Kind() == protoreflect.DoubleKind; optional == always && !c.noMethods {
			c.fault(field, "is optional: %v", optional)
		}
	}
}

// reservedNames are those of fields that Thrift's compiler takes for a word of
// some language.
var reservedNames = []protoreflect.Name{"end", "from", "when"}

func (c *comparison) field(d protoreflect.FieldDescriptor, got reflect.Type) {
	switch {
	case d.IsMap():
		if got.Kind() != reflect.Map {
			c.fault(d, "is %v, want a map", got)
			return
		}
		c.value(d.MapKey(), got.Key())
		c.value(d.MapValue(), got.Elem())
	case d.IsList():
		if got.Kind() != reflect.Slice {
			c.fault(d, "is %v, want a list", got)
			return
		}
		c.value(d, got.Elem())
	case d.HasOptionalKeyword():
		if got.Kind() != reflect.Pointer {
			c.fault(d, "is %v, want an optional one without a default", got)
			return
		}
		c.value(d, got.Elem())
	default:
		c.value(d, got)
	}
}

var scalars = map[protoreflect.Kind]reflect.Type{
	protoreflect.StringKind: reflect.TypeFor[string](),
	protoreflect.BytesKind:  reflect.TypeFor[[]byte](),
	protoreflect.BoolKind:   reflect.TypeFor[bool](),
	protoreflect.Int32Kind:  reflect.TypeFor[int32](),
	protoreflect.Int64Kind:  reflect.TypeFor[int64](),
	protoreflect.DoubleKind: reflect.TypeFor[float64](),
}

func (c *comparison) value(d protoreflect.FieldDescriptor, got reflect.Type) {
	switch d.Kind() {
	case protoreflect.MessageKind:
		c.message(d.Message(), got)
	case protoreflect.EnumKind:
		c.enum(d.Enum(), got)
	default:
		if want := scalars[d.Kind()]; got != want {
			c.fault(d, "is %v, want %v", got, want)
		}
	}
}

// enum looks beyond what the schema has by as many numbers as it has.
func (c *comparison) enum(d protoreflect.EnumDescriptor, got reflect.Type) {
	if got.Kind() != reflect.Int64 || got.Name() != string(d.Name()) {
		c.fault(d, "is %v", got)
		return
	}
	for n := -1; n < 2*d.Values().Len(); n++ {
		want := "<UNSET>"                                                   // as Thrift's compiler has it
		if v := d.Values().ByNumber(protoreflect.EnumNumber(n)); v != nil { //nolint:gosec // a few
			want = string(v.Name())
		}
		if name := fmt.Sprint(reflect.ValueOf(int64(n)).Convert(got).Interface()); name != want {
			c.fault(d, "%d is %s, want %s", n, name, want)
		}
	}
}
