package json_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/json"
)

func TestContract(t *testing.T) { codectest.Run(t, json.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, json.Codec{}) }

func TestVerdicts(t *testing.T) { codectest.Verdicts(t, json.Codec{}) }
