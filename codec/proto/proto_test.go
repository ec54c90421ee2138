package proto_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, proto.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, proto.Codec{}) }

func TestVerdicts(t *testing.T) { codectest.Wire(t, proto.Codec{}) }

func TestClinical(t *testing.T) {
	codectest.Carries(t, proto.Codec{}, clinical.StatementService, clinical.VisitService)
}
