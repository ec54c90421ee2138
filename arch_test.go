// Package tare_test keeps the architecture: which package may import which and
// why, and the habits of the code that a machine can see. Rules are data here;
// the checks that read them are in archcheck_test.go.
package tare_test

import (
	"os"
	"testing"
)

const module = "github.com/tare-bench/tare"

// importRule says what of tare's a package may import. Patterns are those of
// path.Match, "dir/..." is a whole tree, and one that begins with "." counts from
// the package's own folder. The first rule whose pattern matches a package's folder
// holds for it; every package needs one.
type importRule struct {
	pattern string
	allowed []string
	tests   []string // what its _test.go files may import besides
	reason  string
}

// Sets of packages that several rules name.
var (
	generated    = []string{"gen/..."}
	interfaces   = []string{"rpc", "setting", "codec", "compress", "protocol", "store", "workload"}
	contracts    = []string{"*/*test", "*/*test/conformance"}
	leaves       = []string{"codec/*", "compress/*", "store/*"}
	experiment   = []string{"record", "plan", "peer", "runner", "load", "lean", "stats", "report", "report/*"}
	noPackage    = []string{}
	around       = []string{"service/validate", "service/admission", "service/hop"} // that handlers are given
	implTests    = join(contracts, leaves, interfaces, generated, around)
	reasonLeaf   = "everything stands on it, so that whatever it imported would reach everywhere"
	reasonImpl   = "an implementation knows its interface and never a sibling, so that it can be added and removed alone"
	reasonGiven  = "only catalog imports implementations; others are given a Catalog, or protocols would leak into the flow"
	reasonKept   = "what makes a service one to keep stands around any handler, whatever it answers and whoever carries its calls"
	reasonJoints = "parts of the flow meet in data (plan, record, report.Document), so that each is tested and replaced alone"
)

var importRules = []importRule{
	{"rpc", noPackage, generated, reasonLeaf},
	{"setting", noPackage, noPackage, reasonLeaf},
	{"load", noPackage, noPackage, "a call is a function: what makes calls at a pace knows no protocol"},
	{"link", []string{"record"}, noPackage, "what a link is and when a packet leaves it is arithmetic; plan reads it as runner does"},
	{"link/*", []string{"link", "load", "record"}, noPackage, "a kind of link knows no other, and nothing of what crosses it"},
	{"record", noPackage, noPackage, "the results file is read by programs that have nothing else of tare's"},
	{"peer", []string{"record"}, noPackage, "a peer is written in any language from these messages alone"},

	{"codec", []string{"rpc", "setting"}, noPackage, "interfaces stand on rpc and downward only"},
	{"compress", []string{"setting"}, noPackage, "interfaces stand on rpc and downward only"},
	{"store", noPackage, noPackage, "what services keep is apart from how they are called"},
	{"protocol", []string{"rpc", "setting", "codec", "compress"}, generated, "a protocol knows no workload"},
	{"workload", []string{"rpc", "setting", "store"}, noPackage, "a workload knows no protocol and no codec"},

	{"stats/statstest", []string{"record", "stats"}, noPackage, reasonJoints},
	{"*/*test", join(interfaces, generated, []string{"protocol/protocoltest/conformance", "service/validate"}), implTests, "a contract is held against whatever it is given"},
	{"protocol/protocoltest/conformance", join([]string{"rpc"}, generated), implTests, "the conformance service is a workload of its own"},
	{"codec/codectest/evolution", join([]string{"codec", "rpc"}, generated), []string{"catalog"}, "changes of a schema are met with whatever codec is given; its test takes all that there are"},
	{"codec/capnp/idl", generated, noPackage, "it must build before what is generated of its output is there"},
	{"codec/*", join([]string{"codec", "./idl", "rpc", "setting", "workload/*/clinical"}, generated), join(implTests, []string{"codec/codectest/evolution"}), reasonImpl + "; one with a schema of its own binds to the messages of a workload"},
	{"compress/*", []string{"compress", "setting"}, implTests, reasonImpl},
	{"protocol/*", join([]string{"protocol", "codec", "compress", "rpc", "setting"}, generated), implTests, reasonImpl},
	{"store/*", []string{"store", "setting", "internal/groupcommit"}, join(implTests, []string{"store/*/*test"}), reasonImpl + "; to share commits is no store's own business"},
	{"store/*/*test", noPackage, noPackage, "a server for tests is what its own program makes it, whatever is kept there"},
	{"workload/*/clinical", join([]string{"rpc"}, generated), noPackage, "messages and their mapping, which codecs with a schema of their own read too, know nobody who uses them"},
	{"workload/*/records", []string{"../clinical"}, generated, "records are made up by arithmetic alone, for whoever needs some"},
	{"workload/*/ndjson", join([]string{"../clinical"}, generated), []string{"../records"}, "a file's form is read and written without knowing what for"},
	{"workload/*/fhir", []string{"../clinical", "../ndjson"}, join(generated, []string{"../records"}), "what others have agreed on is read and written without knowing what for"},
	{"workload/*/dataset", join([]string{"workload", "../*", "store", "rpc"}, generated), implTests, "records are moved in bulk without the service that keeps them"},
	{"workload/*", join([]string{"workload", "./*", "store", "rpc", "setting"}, generated), implTests, reasonImpl},
	{"call/schema", noPackage, generated, "what services look like is told by files and servers, and by nothing of tare's"},
	{"call/wire", []string{"call/schema"}, generated, "bytes are read without knowing who sent them"},
	{"call", []string{"rpc", "codec", "compress", "protocol", "call/*"}, join(implTests, []string{"catalog", "protocol/*"}), "one call for a person takes no plan and no workload, and is told by a Catalog what it speaks"},
	{"catalog", join(interfaces, leaves, []string{"protocol/*", "workload/*", "plan", "call"}), implTests, "it answers what a plan asks and what a person calls by, and knows nothing of how things are measured"},

	{"service/crash", []string{"catalog", "rpc", "workload/*/clinical", "workload/*/records", "internal/cli", "internal/program", "clients", "store", "store/*/*test", "gen/tare/..."}, implTests, "it judges services from outside, by what clients were told and by what stores keep"},
	{"clients", generated, []string{"catalog", "internal/cli", "internal/program"}, "clients from outside know the schema and a port, and nothing else of tare's"},
	{"service", join(interfaces, []string{"catalog", "service/*"}), implTests, reasonGiven},
	{"service/port", []string{"protocol", "rpc"}, join(implTests, []string{"catalog", "protocol/*"}), "it is given protocols, and never knows one by its name"},
	{"service/openapi", []string{"rpc", "gen/comments"}, join(implTests, []string{"protocol/*"}), "routes and schema are described as they are declared, whatever answers them"},
	{"service/observe", []string{"rpc"}, join(implTests, []string{"protocol/*"}), reasonKept},
	{"service/*", []string{"rpc"}, generated, reasonKept},

	{"plan", []string{"link", "record", "rpc", "setting", "workload", "stats"}, noPackage, reasonJoints},
	{"stats", []string{"record"}, []string{"stats/statstest"}, reasonJoints},
	{"report", []string{"record", "stats"}, []string{"report/*", "stats/statstest"}, reasonJoints},
	{"report/*", []string{"report"}, []string{"record", "stats"}, "a renderer is given the document, so that two cannot disagree on a number"},
	{"runner", []string{"plan", "peer", "record", "link"}, []string{"rpc", "setting", "workload"}, "the runner makes no call and knows no protocol"},
	{"lean", []string{"protocol", "rpc", "load"}, join(implTests, []string{"protocol/*"}), "the lean driver sends prepared frames, whatever made them"},
	{"peers/*", join(interfaces, experiment, around, []string{"catalog", "peers/golang/phase"}), implTests, reasonGiven},
	{"peers/golang/phase", join(around, []string{"catalog", "codec", "lean", "load", "record"}), noPackage, "samples are charged by packages and interfaces' methods, which a Catalog tells, and never by names"},

	{"codecbench", []string{"codec", "compress", "record", "rpc", "workload"}, join(implTests, []string{"workload/*"}), "codecs are weighed by themselves, and are given: it knows no protocol and judges nothing"},

	{"calibrate", join(interfaces, experiment, []string{"catalog", "peers/golang", "calibrate/known"}), implTests, "known weights are weighed by the whole flow, as any comparison is, and are given a Catalog"},
	{"calibrate/known", []string{"protocol", "rpc", "setting", "load"}, implTests, "a known server is a protocol like others, and knows no workload"},

	{"internal/cli", join(interfaces, experiment, []string{"catalog", "codecbench", "peers/golang", "calibrate", "call", "call/*", "link", "link/*", "service", "service/*", "internal/..."}), join(implTests, []string{"store/*/*test", "workload/*/dataset"}), reasonGiven},
	{"internal/*", noPackage, noPackage, "what no reader of the design needs stands on nothing of the design"},
	{"cmd/tare", []string{"catalog", "internal/cli"}, noPackage, "main is a few lines"},
	{".", noPackage, []string{"catalog"}, "the root holds tests of the whole tree"},
}

// pure are the packages that compute: they open no socket, start no process and
// read no clock, so that equal inputs give equal plans, figures and reports.
var pure = []string{"plan", "stats", "report", "report/*", "record", "link", "workload/*/records"}

// named are the folders whose folders bear names that users type. A name is
// written in its folder and in catalog, and nowhere else.
var named = []string{"protocol", "codec", "compress", "workload", "store"}

// exception is where a rule does not hold, and why. One that is needed no
// longer fails.
type exception struct{ where, what, reason string }

// nameExceptions allow a folder a literal that equals a name.
var nameExceptions = []exception{
	{"codec/avro", "json", "the tag by which plain structs name their fields, and no codec"},
	{"codec/capnp", "json", "the tag by which plain structs name their fields, and no codec"},
	{"codec/protojson", "json", "what users call ProtoJSON is application/json on the wire"},
	{"codec/jsonv2", "json", "any library's JSON is application/json on the wire"},
	{"codec/goccy", "json", "any library's JSON is application/json on the wire"},
	{"codec/vtproto", "proto", "either code's protobuf is the same on the wire"},
	{"protocol/connect", "gzip", "the library offers this coding unasked, and must be told not to"},
	{"call", "grpc", "a scheme of URLs, as grpcurl and others have it"},
	{"call", "gzip", "the library offers this coding unasked, and must be told not to"},
	{"lean", "connect", "a system call, as its errors name it"},
	{"service/crash", "orders", "it kills the services of this workload"},
	{"service/crash", "statements", "and of this one"},
	{"service/crash", "sqlite", "unless told otherwise, it keeps records in what needs no server"},
	{"service/crash", "postgres", "it has a server of its own, and kills that too"},
	{"internal/environment", "memory", "of the machine"},
	{"store/postgres", "statements", "what a lock is of, and no workload"},
	{"store/storetest", "statements", "what is drawn, and no workload"},
	{"service/observe", "json", "a format of the log, and no codec"},
	{"internal/cli", "json", "a format to print a report in, and no codec"},
	{"internal/cli", "proto", "a flag that names .proto files"},
	{"internal/cli", "grpc", "a flag that says how bytes are framed"},
}

// sizeExceptions allow a file, or a function in it, to be long.
var sizeExceptions = []exception{
	{"call/failures_test.go", "TestFailuresSayWhatToDo", "a table with a row for each failure"},
	{"stats/audit_test.go", "TestEachFaultIsFoundAndNoOther", "a table with a run for each fault"},
}

func TestArchitecture(t *testing.T) {
	tree, err := parseTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree) < 50 {
		t.Fatalf("found %d files only: this test must run at the root of the tree", len(tree))
	}
	for name, check := range map[string]func([]source) []string{
		"imports":                       func(s []source) []string { return checkImports(s, importRules) },
		"computing packages are pure":   func(s []source) []string { return checkPurity(s, pure) },
		"names stay home":               func(s []source) []string { return checkNames(s, named, nameExceptions) },
		"one package comment each":      checkComments,
		"no init":                       checkInit,
		"no sleep in tests":             checkSleep,
		"files and functions are short": func(s []source) []string { return checkSizes(s, sizeExceptions) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, violation := range check(tree) {
				t.Error(violation)
			}
		})
	}
}

func join(lists ...[]string) (all []string) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
