package proto_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/proto"
)

func TestContract(t *testing.T) { codectest.Run(t, proto.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, proto.Codec{}) }
