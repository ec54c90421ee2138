package goccy_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/goccy"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, goccy.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, goccy.Codec{}) }
func TestVerdicts(t *testing.T) { codectest.Verdicts(t, goccy.Codec{}) }

func TestClinical(t *testing.T) {
	codectest.Carries(t, goccy.Codec{}, clinical.StatementService, clinical.VisitService)
}
