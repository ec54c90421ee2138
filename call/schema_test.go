package call_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tare-bench/tare/call"
	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/rpc"
)

var dialects = catalog.Default().Dialects

// A server's own schema comes before the program's, by either version of
// reflection; a given one comes before both.
func TestSchemaIsFoundInOrder(t *testing.T) {
	given, err := schema.Compile(t.Context(), []string{"../proto"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	telling, old, quiet := serveStock(t, reflects), serveStock(t, reflectsOld), serveStock(t, silent)
	for _, test := range []struct {
		url, stack string
		given      *schema.Schema
		from       string
	}{
		{"grpc://" + telling, "", nil, "the reflection of " + telling},
		{"grpc://" + old, "", nil, "the reflection of " + old},
		{"grpc://" + quiet, "", nil, "what tare was built with"},
		{"grpc://" + telling, "", given, "--proto ../proto"},
		{"http://" + telling, "connect+proto", nil, "the reflection of " + telling},
		{"http://" + serve(t, "connect+proto"), "connect+proto", nil, "what tare was built with"},
	} {
		target, err := call.ParseTarget(test.url + "/" + service + "/Echo")
		if err != nil {
			t.Fatal(err)
		}
		dialect, err := call.Choose(dialects, target)
		if err != nil {
			t.Fatal(err)
		}
		m, s, done, err := call.Options{Target: target, Dialect: dialect}.Find(t.Context(), test.given)
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		if s.From != test.from || m.Name() != "Echo" {
			t.Errorf("the schema of %s is %s from %s, want it from %s", test.url, m.FullName(), s.From, test.from)
		}
		done()
	}
}

func TestReflectionListsAndDescribes(t *testing.T) {
	target, err := call.ParseTarget("grpc://" + serveStock(t, reflects))
	if err != nil {
		t.Fatal(err)
	}
	s, done := call.Options{Target: target, Dialect: dialects[0]}.Reflect(t.Context())
	defer done()
	methods, err := s.Methods()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range methods {
		lines = append(lines, m.Path+" "+m.Types)
	}
	want := service + "/Collect (stream tare.conformance.v1.CollectRequest) returns (tare.conformance.v1.CollectResponse)"
	if all := strings.Join(lines, "\n"); !strings.Contains(all, want) {
		t.Errorf("there is no %s in\n%s", want, all)
	}
	source, err := s.Describe("tare.conformance.v1.Item")
	if err != nil || !strings.Contains(source, "map<string, int64> counts = 9;") {
		t.Errorf("the source of Item is\n%s\n%v", source, err)
	}
}

// A schema that is not the server's is told by what it makes of the replies.
func TestRepliesOfAnotherSchema(t *testing.T) {
	dir := t.TempDir()
	source := `syntax = "proto3"; package tare.conformance.v1;
service ConformanceService { rpc Echo(In) returns (Out); rpc Collect(stream In) returns (Nothing); }
message In { Blob item = 1; } message Blob { bytes blob = 4; }
message Out { Text item = 1; } message Text { string blob = 4; } message Nothing {}`
	if err := os.WriteFile(filepath.Join(dir, "other.proto"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := schema.Compile(t.Context(), []string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := request{url: "grpc://" + serve(t, "grpc+proto") + "/" + service + "/Collect", in: text(`{}`), given: other}
	out, notes, _, err := ask(t.Context(), t, r)
	if err != nil || out != "{}\n" || notes != "tare: warning: the schema has no field 1: varint 1 (zigzag -1)\n" {
		t.Errorf("printed %s and %q, ended with %v", out, notes, err)
	}
	r.url, r.in = strings.Replace(r.url, "Collect", "Echo", 1), text(`{"item":{"blob":"/w=="}}`)
	_, _, _, err = ask(t.Context(), t, r)
	var f *call.Failure
	if !errors.As(err, &f) || f.Code != rpc.Internal || !strings.Contains(f.Hint(), "the schema may not be the server's") {
		t.Errorf("what does not parse ends with %v", err)
	}
}
