package grpc_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/compress/zstd"
	"github.com/tare-bench/tare/protocol/grpc"
	"github.com/tare-bench/tare/protocol/protocoltest"
)

func TestContract(t *testing.T) {
	stacks := map[string]protocoltest.Stack{
		"generated messages":   {Codec: proto.Codec{}},
		"compressed":           {Codec: proto.Codec{}, Compressor: gzip.Compressor{}},
		"compressed otherwise": {Codec: json.Codec{}, Compressor: zstd.Compressor{}},
		"plain structs":        {Codec: json.Codec{}},
		"three channels":       {Codec: proto.Codec{}, Settings: map[string]string{"conns": "3"}},
		"a channel for a call": {Codec: proto.Codec{}, Settings: map[string]string{"channel": "per-call"}, ConnPerCall: true},
	}
	for name, stack := range stacks {
		t.Run(name, func(t *testing.T) { protocoltest.Run(t, grpc.New(), stack) })
	}
}
