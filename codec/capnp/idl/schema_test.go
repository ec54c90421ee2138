package idl_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec/capnp/idl"
	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	conformancev1 "github.com/tare-bench/tare/gen/tare/conformance/v1"
	evolutionv1 "github.com/tare-bench/tare/gen/tare/evolution/v1"
	evolutionv2 "github.com/tare-bench/tare/gen/tare/evolution/v2"
)

var update = flag.Bool("update", false, "write schema/capnp anew")

// What Cap'n Proto's compiler reads is what proto/ says, so that neither
// drifts from the other. That the code is made of it, each Bind shows.
func TestSchemasAreCurrent(t *testing.T) {
	for name, files := range map[string][]protoreflect.FileDescriptor{
		"clinical":    {clinicalv1.File_tare_clinical_v1_statement_proto, clinicalv1.File_tare_clinical_v1_visit_proto},
		"conformance": {conformancev1.File_tare_conformance_v1_conformance_proto},
		"evolutionv1": {evolutionv1.File_tare_evolution_v1_evolution_proto},
		"evolutionv2": {evolutionv2.File_tare_evolution_v2_evolution_proto},
	} {
		want, err := idl.Schema(name, files...)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("..", "..", "..", "schema", "capnp", name+".capnp")
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a file of the tree
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path) //nolint:gosec // a file of the tree
		if err != nil {
			t.Fatal(err)
		}
		if string(kept) != want {
			t.Errorf("%s is not what proto/ makes: run make generate", path)
		}
	}
}
