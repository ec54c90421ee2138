package json_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, json.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, json.Codec{}) }

func TestVerdicts(t *testing.T) { codectest.Verdicts(t, json.Codec{}) }

// What is wrong is said in the words of JSON.
func TestErrorsNameTheField(t *testing.T) {
	b, err := json.Codec{}.Bind(conformance.Echo.In)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"failCode":"five"}`:         "failCode is to be int32, and is string",
		`{"item":{"text":7}}`:         "item.text is to be a string, and is number",
		`{"item":[]}`:                 "item is to be an object, and is array",
		`{"item":{"number":150}}`:     `a whole number of 64 bits stands in quotes, such as "150"`,
		`{"item":{"number":"fifty"}}`: `a whole number of 64 bits stands in quotes, such as "150"`,
	} {
		if _, err := b.Parse([]byte(body)); err == nil || err.Error() != want {
			t.Errorf("%s is refused as %v, want %s", body, err, want)
		}
	}
}

func TestClinical(t *testing.T) {
	codectest.Carries(t, json.Codec{}, clinical.StatementService, clinical.VisitService)
}
