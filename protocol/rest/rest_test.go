package rest_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/avro"
	"github.com/tare-bench/tare/codec/capnp"
	"github.com/tare-bench/tare/codec/cbor"
	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/codec/protojson"
	"github.com/tare-bench/tare/codec/thrift"
	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/compress/zstd"
	"github.com/tare-bench/tare/protocol/protocoltest"
	"github.com/tare-bench/tare/protocol/rest"
)

func TestCallsAreRefusedBeforeTheyAreHandedOver(t *testing.T) {
	protocoltest.RefusesEarly(t, rest.New(), protocoltest.Stack{Codec: json.Codec{}})
}

func TestContract(t *testing.T) {
	for name, stack := range map[string]protocoltest.Stack{
		"plain structs":         {Codec: json.Codec{}},
		"generated messages":    {Codec: proto.Codec{}},
		"ProtoJSON":             {Codec: protojson.Codec{}},
		"CBOR":                  {Codec: cbor.Codec{}},
		"Thrift's structs":      {Codec: thrift.NewCompact()},
		"Avro":                  {Codec: avro.Codec{}},
		"Cap'n Proto":           {Codec: capnp.Codec{}},
		"compressed":            {Codec: json.Codec{}, Compressor: gzip.Compressor{}},
		"compressed, binary":    {Codec: proto.Codec{}, Compressor: zstd.Compressor{}},
		"HTTP/2":                {Codec: json.Codec{}, Settings: set("http", "2")},
		"HTTP/2, binary":        {Codec: proto.Codec{}, Settings: set("http", "2", "conns", "1")},
		"HTTP/2, 8 connections": {Codec: json.Codec{}, Settings: set("http", "2", "conns", "8")},
		"4 connections":         {Codec: json.Codec{}, Settings: set("conns", "4")},
		"a connection per call": {Codec: json.Codec{}, Settings: set("keepalive", "off"), ConnPerCall: true},
		"HTTP/2, one per call":  {Codec: json.Codec{}, Settings: set("http", "2", "keepalive", "off"), ConnPerCall: true},
	} {
		t.Run(name, func(t *testing.T) { protocoltest.Run(t, rest.New(), stack) })
	}
}

func set(words ...string) map[string]string {
	m := make(map[string]string)
	for i := 0; i < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	return m
}
