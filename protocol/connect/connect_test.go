package connect_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/compress/zstd"
	"github.com/tare-bench/tare/protocol/connect"
	"github.com/tare-bench/tare/protocol/protocoltest"
)

func TestContract(t *testing.T) {
	protocols := map[string]connect.Protocol{"Connect": connect.New(), "gRPC-Web": connect.NewWeb()}
	stacks := map[string]protocoltest.Stack{
		"generated messages":      {Codec: proto.Codec{}},
		"compressed":              {Codec: proto.Codec{}, Compressor: gzip.Compressor{}},
		"compressed otherwise":    {Codec: json.Codec{}, Compressor: zstd.Compressor{}},
		"plain structs":           {Codec: json.Codec{}},
		"HTTP 2":                  {Codec: proto.Codec{}, Settings: map[string]string{"http": "2", "conns": "1"}},
		"HTTP 2, two connections": {Codec: proto.Codec{}, Settings: map[string]string{"http": "2", "conns": "2"}},
		"a connection for a call": {Codec: proto.Codec{}, Settings: map[string]string{"keepalive": "off"}, ConnPerCall: true},
	}
	for spoken, p := range protocols {
		for name, stack := range stacks {
			t.Run(spoken+", "+name, func(t *testing.T) { protocoltest.Run(t, p, stack) })
		}
	}
}
