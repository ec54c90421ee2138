package thrift_test

import (
	"testing"

	codec "github.com/tare-bench/tare/codec/thrift"
	"github.com/tare-bench/tare/protocol/protocoltest"
	"github.com/tare-bench/tare/protocol/thrift"
)

func TestContract(t *testing.T) {
	protocoltest.Run(t, thrift.New(), protocoltest.Stack{Codec: codec.New()})
}

func TestContractCompact(t *testing.T) {
	protocoltest.Run(t, thrift.New(), protocoltest.Stack{Codec: codec.NewCompact()})
}

func TestContractOfFewConnections(t *testing.T) {
	protocoltest.Run(t, thrift.New(), protocoltest.Stack{Codec: codec.New(), Settings: map[string]string{"conns": "3"}})
}
