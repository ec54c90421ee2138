package protojson_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/protojson"
)

func TestContract(t *testing.T) { codectest.Run(t, protojson.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, protojson.Codec{}) }

func TestVerdicts(t *testing.T) { codectest.Verdicts(t, protojson.Codec{}) }
