package vtproto_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/vtproto"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, vtproto.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, vtproto.Codec{}) }

func TestVerdicts(t *testing.T) { codectest.Wire(t, vtproto.Codec{}) }

func TestClinical(t *testing.T) {
	codectest.Carries(t, vtproto.Codec{}, clinical.StatementService, clinical.VisitService)
}
