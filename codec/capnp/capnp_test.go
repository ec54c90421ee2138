package capnp_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/capnp"
	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, capnp.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, capnp.Codec{}) }

func TestStatements(t *testing.T) {
	codectest.Service(t, capnp.Codec{}, clinical.StatementService, clinical.StatementType)
}

func TestVisits(t *testing.T) { codectest.Service(t, capnp.Codec{}, clinical.VisitService) }
