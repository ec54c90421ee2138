package protojson_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/protojson"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, protojson.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, protojson.Codec{}) }

func TestVerdicts(t *testing.T) { codectest.Verdicts(t, protojson.Codec{}) }

func TestClinical(t *testing.T) {
	codectest.Carries(t, protojson.Codec{}, clinical.StatementService, clinical.VisitService)
}
