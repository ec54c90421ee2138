package thrift_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	apache "github.com/apache/thrift/lib/go/thrift"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/thrift"
	nativeclinical "github.com/tare-bench/tare/gen/thrift/clinical"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T)        { codectest.Run(t, thrift.New()) }
func TestContractCompact(t *testing.T) { codectest.Run(t, thrift.NewCompact()) }
func FuzzParse(f *testing.F)           { codectest.Fuzz(f, thrift.New()) }
func FuzzParseCompact(f *testing.F)    { codectest.Fuzz(f, thrift.NewCompact()) }

// TestClinicalMessagesRoundTrip fills every field there is, by protobuf's
// schema, so that no field is forgotten where plain structs are mapped.
func TestClinicalMessagesRoundTrip(t *testing.T) {
	types := []*rpc.Type{clinical.StatementType}
	for _, s := range []*rpc.Service{clinical.StatementService, clinical.VisitService} {
		for _, m := range s.Methods {
			types = append(types, m.In, m.Out)
		}
	}
	for _, c := range codecs {
		for _, typ := range types {
			b, err := c.Bind(typ)
			if err != nil {
				t.Fatal(err)
			}
			full := typ.NewProto()
			fill(full.ProtoReflect(), 1)
			for _, message := range []proto.Message{typ.NewProto(), full} {
				plain := typ.FromProto(message)
				encoded, err := b.Append(nil, b.Native(plain))
				if err != nil {
					t.Fatal(err)
				}
				native, err := b.Parse(encoded)
				if err != nil {
					t.Fatalf("%s: %s: %v", c.Spec().Name, typ.Name, err)
				}
				again := b.Plain(native)
				if diff := cmp.Diff(plain, again, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: %s differs (-in +out):\n%s", c.Spec().Name, typ.Name, diff)
				}
				if !proto.Equal(message, typ.ToProto(again)) {
					t.Errorf("%s: %s is another message afterwards", c.Spec().Name, typ.Name)
				}
			}
		}
	}
}

var codecs = []codec.Codec{thrift.New(), thrift.NewCompact()}

// fill sets every field to a value that no other field of the message has.
func fill(m protoreflect.Message, seed int64) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f, n := fields.Get(i), seed+int64(i)
		switch {
		case f.IsList() && f.Message() != nil:
			for k := range int64(2) {
				fill(m.Mutable(f).List().AppendMutable().Message(), n+k)
			}
		case f.IsList():
			m.Mutable(f).List().Append(protoreflect.ValueOfString(fmt.Sprint("é", n)))
		case f.Message() != nil:
			fill(m.Mutable(f).Message(), n)
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(fmt.Sprint("日", n)))
		case f.Kind() == protoreflect.BoolKind:
			m.Set(f, protoreflect.ValueOfBool(true))
		case f.Kind() == protoreflect.Int32Kind:
			m.Set(f, protoreflect.ValueOfInt32(int32(n)))
		case f.Kind() == protoreflect.Int64Kind:
			m.Set(f, protoreflect.ValueOfInt64(n<<33))
		case f.Kind() == protoreflect.EnumKind:
			m.Set(f, protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)))
		}
	}
}

// TestMalformedMessagesAreErrors has messages that lie about lengths, and such as
// would overflow a stack. Each is refused for what little it brings.
func TestMalformedMessagesAreErrors(t *testing.T) {
	deep := func(first, next string) []byte { return []byte(first + strings.Repeat(next, 1<<20)) }
	for name, test := range map[string]struct {
		codec codec.Codec
		src   []byte
		want  string
	}{
		"nothing":                       {codecs[0], nil, "EOF"},
		"nothing, compact":              {codecs[1], nil, "EOF"},
		"items without end":             {codecs[0], deep("\x0c\x00\x01", "\x0c\x00\x07"), "deeper than 64"},
		"items without end, compact":    {codecs[1], deep("\x1c", "\x7c"), "deeper than 64"},
		"unknown structs without end":   {codecs[0], deep("", "\x0c\x00\x63"), "Depth limit"},
		"a string of 2 GB":              {codecs[0], []byte("\x0b\x00\x03\x7f\xff\xff\xffabc"), "EOF"},
		"a string of less than nothing": {codecs[0], []byte("\x0b\x00\x03\xff\xff\xff\xffabc"), "negative size"},
		"a list of 2 G strings":         {codecs[0], []byte("\x0c\x00\x01\x0f\x00\x06\x0b\x7f\xff\xff\xff"), "size"},
		"a list of 2 G voids":           {codecs[0], []byte("\x0c\x00\x01\x0f\x00\x06\x01\x7f\xff\xff\xff"), "remaining"},
		"a map of 2 G, compact":         {codecs[1], []byte("\x1c\x9b\xff\xff\xff\xff\x07\x86"), "size"},
		"a list of 2 G, compact":        {codecs[1], []byte("\x1c\x69\xf8\xff\xff\xff\xff\x07"), "remaining"},
		"text that is not UTF-8":        {codecs[0], []byte("\x0b\x00\x03\x00\x00\x00\x01\xff\x00"), "UTF-8"},
		"such text, compact":            {codecs[1], []byte("\x38\x01\xff\x00"), "UTF-8"},
		"bytes after it":                {codecs[0], []byte("\x00\x00"), "after the message"},
		"bytes after it, compact":       {codecs[1], []byte("\x00\x00"), "after the message"},
	} {
		b, err := test.codec.Bind(conformance.Echo.In)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = b.Parse(test.src)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want %q", name, err, test.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%s: takes %d bytes", name, took)
		}
		if native, err := b.Parse([]byte{0}); err != nil {
			t.Errorf("%s: afterwards the least message is refused: %v, %v", name, native, err)
		}
	}
}

func TestOtherTypesAreUnbound(t *testing.T) {
	another := *clinical.StatementType
	another.New = func() any { return new(string) }
	for _, typ := range []*rpc.Type{{Name: "tare.orders.v1.Order"}, &another} {
		if _, err := thrift.New().Bind(typ); !errors.Is(err, codec.ErrUnbound) {
			t.Errorf("%s: error is %v", typ.Name, err)
		}
	}
}

// TestAllocatesNoMoreThanItsTwin has the generated struct written and read by
// Apache's own serializer.
func TestAllocatesNoMoreThanItsTwin(t *testing.T) {
	const runs = 500
	message := clinical.StatementType.NewProto()
	fill(message.ProtoReflect(), 1)
	b, err := thrift.New().Bind(clinical.StatementType)
	if err != nil {
		t.Fatal(err)
	}
	native := b.Native(clinical.StatementType.FromProto(message)).(*nativeclinical.MedicationStatement)
	factory := apache.NewTBinaryProtocolFactoryConf(nil)
	serializers := apache.NewTSerializerPoolSizeFactory(4096, factory)
	deserializers := apache.NewTDeserializerPoolSizeFactory(4096, factory)
	ctx := t.Context()
	twin := testing.AllocsPerRun(runs, func() {
		src, err := serializers.Write(ctx, native)
		if err != nil {
			t.Fatal(err)
		}
		if err := deserializers.Read(ctx, new(nativeclinical.MedicationStatement), src); err != nil {
			t.Fatal(err)
		}
	})
	adapter := testing.AllocsPerRun(runs, func() {
		src, err := b.Append(make([]byte, 0, 4096), native)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Parse(src); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("adapter %v, twin %v allocations", adapter, twin)
	if adapter > 1.02*twin {
		t.Errorf("adapter allocates %v times, its twin %v", adapter, twin)
	}
}
