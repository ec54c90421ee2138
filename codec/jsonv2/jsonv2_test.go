package jsonv2_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/jsonv2"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, jsonv2.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, jsonv2.Codec{}) }
func TestVerdicts(t *testing.T) { codectest.Verdicts(t, jsonv2.Codec{}) }

func TestClinical(t *testing.T) {
	codectest.Carries(t, jsonv2.Codec{}, clinical.StatementService, clinical.VisitService)
}
