package capnp_test

import (
	"testing"

	lib "capnproto.org/go/capnp/v3"

	generic "github.com/tare-bench/tare/codec"
	codec "github.com/tare-bench/tare/codec/capnp"
	"github.com/tare-bench/tare/protocol/capnp"
	"github.com/tare-bench/tare/protocol/protocoltest"
	"github.com/tare-bench/tare/rpc"
)

func TestContract(t *testing.T) {
	protocoltest.Run(t, capnp.New(), protocoltest.Stack{Codec: codec.Codec{}, Garbled: garbled{}})
}

func TestContractOfConnections(t *testing.T) {
	protocoltest.Run(t, capnp.New(), protocoltest.Stack{
		Codec: codec.Codec{}, Garbled: garbled{}, Settings: map[string]string{"conns": "3"},
	})
}

func TestRefusesEarly(t *testing.T) {
	protocoltest.RefusesEarly(t, capnp.New(), protocoltest.Stack{Codec: codec.Codec{}})
}

// garbled is a codec that puts a list where each message has a struct or a text.
type garbled struct{ codec.Codec }

func (g garbled) Bind(t *rpc.Type) (generic.Binding, error) {
	b, err := g.Codec.Bind(t)
	if err != nil {
		return nil, err
	}
	return garbledBinding{b, b.(capnp.Binding)}, nil
}

type garbledBinding struct {
	generic.Binding
	parts capnp.Binding
}

func (g garbledBinding) Room() lib.ObjectSize { return g.parts.Room() }

func (g garbledBinding) Put(to lib.Struct, _ any) error {
	list, err := lib.NewUInt64List(to.Segment(), 3)
	if err != nil {
		return err
	}
	return to.SetPtr(0, list.ToPtr())
}

func (g garbledBinding) Take(from lib.Struct) (any, int, error) { return g.parts.Take(from) }
