package schema_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tare-bench/tare/call/schema"
	_ "github.com/tare-bench/tare/gen/tare/conformance/v1"
	_ "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// folder lays files out below a folder of their own.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ledger is a schema whose files import one another, protobuf's own and one that
// the program was built with.
var ledger = map[string]string{
	"api/acme/v1/ledger.proto": `syntax = "proto3";
package acme.v1;
import "acme/v1/post.proto";
import "google/protobuf/timestamp.proto";
import "google/rpc/status.proto";
// Ledger keeps posts.
service Ledger {
  // Post adds one.
  rpc Post(PostRequest) returns (stream PostReply);
}
message PostReply { google.protobuf.Timestamp at = 1; google.rpc.Status status = 2; }`,
	"api/acme/v1/post.proto": `syntax = "proto3";
package acme.v1;
message PostRequest { string id = 1; oneof what { int32 a = 2; string b = 3; } }`,
	"loose.proto": `syntax = "proto2"; message Loose { required int32 n = 1; }`,
}

func TestCompileFindsImports(t *testing.T) {
	dir := folder(t, ledger)
	for _, test := range []struct {
		name           string
		paths, imports []string
	}{
		{"a file", []string{"api/acme/v1/ledger.proto"}, nil},
		{"the root", []string{"api"}, nil},
		{"a folder above the root", []string{"."}, nil},
		{"a folder below the root", []string{"api/acme/v1"}, nil},
		{"two files", []string{"api/acme/v1/ledger.proto", "loose.proto"}, nil},
		{"a root that is given", []string{"api/acme/v1/ledger.proto"}, []string{"api"}},
		{"an absolute path", []string{filepath.Join(dir, "api/acme/v1/ledger.proto")}, []string{"./api"}},
		{"an absolute path alone", []string{filepath.Join(dir, "api/acme/v1/ledger.proto")}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Chdir(dir)
			s, err := schema.Compile(t.Context(), test.paths, test.imports)
			if err != nil {
				t.Fatal(err)
			}
			m, err := s.Method("acme.v1.Ledger", "Post")
			if err != nil {
				t.Fatal(err)
			}
			if at := m.Output().Fields().ByName("at").Message(); at == nil || at.FullName() != "google.protobuf.Timestamp" {
				t.Errorf("Post answers with %v", m.Output())
			}
		})
	}
}

func TestSchemasThatAreNone(t *testing.T) {
	dir := folder(t, map[string]string{
		"bad/syntax.proto": "syntax = \"proto3\";\nmessage X { string = 1; }",
		"bad/import.proto": "syntax = \"proto3\";\nimport \"nowhere.proto\";",
		"empty/readme":     "",
		"descriptors.bin":  "nonsense",
		"api/x.proto":      `syntax = "proto3";`,
	})
	t.Chdir(dir)
	for _, test := range []struct {
		paths, imports []string
		want           string
	}{
		{[]string{"bad/syntax.proto"}, nil, "compile schema: syntax.proto:2:20: syntax error"},
		{[]string{"bad/import.proto"}, nil, `import.proto:2:8: open bad/nowhere.proto: no such file`},
		{[]string{"empty"}, nil, "no .proto file below empty"},
		{[]string{"nowhere"}, nil, "read schema: lstat nowhere"},
		{[]string{"api/x.proto"}, []string{"bad"}, "api/x.proto is below none of the folders of -I"},
	} {
		if _, err := schema.Compile(t.Context(), test.paths, test.imports); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v gives %v, want %s", test.paths, err, test.want)
		}
	}
	for path, want := range map[string]string{"nowhere": "read descriptors: open nowhere", "descriptors.bin": "descriptors.bin holds no FileDescriptorSet", "empty/readme": "holds no FileDescriptorSet"} {
		if _, err := schema.Descriptors([]string{path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", path, err, want)
		}
	}
}

// protoc -o leaves imports out unless it is told not to.
func TestDescriptorsWithAndWithoutImports(t *testing.T) {
	find := func(name string) *descriptorpb.FileDescriptorProto {
		f, err := protoregistry.GlobalFiles.FindFileByPath(name)
		if err != nil {
			t.Fatal(err)
		}
		return protodesc.ToFileDescriptorProto(f)
	}
	orders, payments := find("tare/orders/v1/orders.proto"), find("tare/payments/v1/payments.proto")
	for name, files := range map[string][]*descriptorpb.FileDescriptorProto{"with": {payments, orders}, "without": {orders}} {
		b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "set.binpb")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := schema.Descriptors([]string{path})
		if err != nil {
			t.Errorf("%s imports: %v", name, err)
			continue
		}
		if _, err := s.Method("tare.orders.v1.OrderService", "CreateOrder"); err != nil {
			t.Errorf("%s imports: %v", name, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Chdir(folder(t, ledger))
	s, err := schema.Compile(t.Context(), []string{"api"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"acme.v1.Ledger":      "// acme.v1.Ledger, in acme/v1/ledger.proto\n// Ledger keeps posts.\nservice Ledger {\n  // Post adds one.\n  rpc Post ( PostRequest ) returns ( stream PostReply );\n}\n",
		"acme.v1.Ledger/Post": "message PostRequest {\n  string id = 1;\n  oneof what {\n",
		"acme.v1.Ledger.Post": "message PostReply {\n",
	} {
		if got, err := s.Describe(name); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s is\n%s(%v), want\n%s", name, got, err, want)
		}
	}
}

func TestTemplateHasTheFirstOfAOneof(t *testing.T) {
	t.Chdir(folder(t, ledger))
	s, err := schema.Compile(t.Context(), []string{"api"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.Template("acme.v1.PostRequest"); err != nil || string(text) != "{\n  \"id\": \"\",\n  \"a\": 0\n}" {
		t.Errorf("the example is %s (%v)", text, err)
	}
}

func TestUnknownNamesGiveTheNearest(t *testing.T) {
	s := schema.Builtin()
	errOf := func(_ any, err error) error { return err }
	for _, test := range []struct {
		err  error
		what string
		near string
	}{
		{errOf(s.Method("tare.orders.v1.OrdersService", "CreateOrder")), "service", "tare.orders.v1.OrderService"},
		{errOf(s.Method("OrderService", "CreateOrder")), "service", "tare.orders.v1.OrderService"},
		{errOf(s.Method("tare.orders.v1.OrderService", "createorder")), "method", "CreateOrder"},
		{errOf(s.Method("tare.orders.v1.OrderLine", "X")), "service", ""},
		{errOf(s.Message("tare.orders.v1.Orderline")), "message", "tare.orders.v1.OrderLine"},
		{errOf(s.Message("acme.Item")), "message", "tare.conformance.v1.Item"},
		{errOf(s.Describe("tare.conformance.v1.Itm")), "service, method or type", "tare.conformance.v1.Item"},
	} {
		var unknown *schema.UnknownError
		if !errors.As(test.err, &unknown) || unknown.What != test.what {
			t.Errorf("got %v, want an unknown %s", test.err, test.what)
			continue
		}
		if test.near != "" && (len(unknown.Near) == 0 || unknown.Near[0] != test.near) {
			t.Errorf("%v is near to %v, want %s first", test.err, unknown.Near, test.near)
		}
	}
	if _, err := s.Message("not a name"); err == nil || !strings.Contains(err.Error(), `"not a name" is no full name`) {
		t.Errorf("what is no name gives %v", err)
	}
	if _, err := s.Message("tare.orders.v1.OrderService"); err == nil || !strings.Contains(err.Error(), "and not a message") {
		t.Errorf("a service for a message gives %v", err)
	}
}

// An example of any message that there is can be sent as it is.
func TestTemplatesAreMessages(t *testing.T) {
	s, n := schema.Builtin(), 0
	protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
		text, err := s.Template(string(m.Descriptor().FullName()))
		if err != nil {
			t.Error(err)
			return true
		}
		if err := protojson.Unmarshal(text, dynamicpb.NewMessage(m.Descriptor())); err != nil {
			t.Errorf("the example of %s is no message: %v\n%s", m.Descriptor().FullName(), err, text)
		}
		n++
		return true
	})
	if n < 50 {
		t.Fatalf("there are %d messages only", n)
	}
	for name, want := range map[string]string{
		"tare.conformance.v1.ConformanceService/Echo": "\"counts\": {\n      \"\": \"0\"\n    }",
		"google.protobuf.Any":                         "{}",
		"google.protobuf.Value":                       "null",
	} {
		if text, err := s.Template(name); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the example of %s has no %s: %s (%v)", name, want, text, err)
		}
	}
}

func TestJSONLeavesOutWhatNoSchemaHas(t *testing.T) {
	known, err := anypb.New(timestamppb.New(timestamppb.Now().AsTime().Truncate(1)))
	if err != nil {
		t.Fatal(err)
	}
	types := schema.Builtin().Types()
	if _, unknown, err := schema.JSON(known, types); err != nil || len(unknown) > 0 {
		t.Errorf("a known type gives %v and %v", unknown, err)
	}
	text, unknown, err := schema.JSON(&anypb.Any{TypeUrl: "acme.com/acme.v1.X", Value: []byte{8, 1}}, types)
	if err != nil || len(unknown) != 1 || unknown[0] != "acme.com/acme.v1.X" || string(text) != "{\n  \"@type\": \"acme.com/acme.v1.X\"\n}" {
		t.Errorf("an unknown type gives %s, %v and %v", text, unknown, err)
	}
}
