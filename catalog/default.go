package catalog

import (
	"github.com/tare-bench/tare/call"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/avro"
	"github.com/tare-bench/tare/codec/capnp"
	"github.com/tare-bench/tare/codec/cbor"
	"github.com/tare-bench/tare/codec/goccy"
	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/codec/jsonv2"
	"github.com/tare-bench/tare/codec/msgpack"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/codec/protojson"
	"github.com/tare-bench/tare/codec/thrift"
	"github.com/tare-bench/tare/codec/vtproto"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/compress/zstd"
	"github.com/tare-bench/tare/protocol"
	capnprpc "github.com/tare-bench/tare/protocol/capnp"
	"github.com/tare-bench/tare/protocol/connect"
	"github.com/tare-bench/tare/protocol/grpc"
	"github.com/tare-bench/tare/protocol/rest"
	thriftrpc "github.com/tare-bench/tare/protocol/thrift"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/store/postgres"
	"github.com/tare-bench/tare/store/sqlite"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/orders"
	"github.com/tare-bench/tare/workload/statements"
)

// Default is all that tare comes with.
func Default() Catalog {
	return Catalog{
		Protocols: []protocol.Protocol{
			rest.New(),
			grpc.New(),
			connect.New(),
			connect.NewWeb(),
			thriftrpc.New(),
			capnprpc.New(),
		},
		Codecs: []codec.Codec{
			json.Codec{},
			protojson.Codec{},
			proto.Codec{},
			vtproto.Codec{},
			jsonv2.Codec{},
			goccy.Codec{},
			msgpack.Codec{},
			cbor.Codec{},
			thrift.New(),
			thrift.NewCompact(),
			avro.Codec{},
			capnp.Codec{},
		},
		Compressors: []compress.Compressor{
			gzip.Compressor{},
			zstd.Compressor{},
		},
		Workloads: []workload.Workload{
			orders.Workload{},
			statements.Workload{},
		},
		Stores: []store.Kind{
			memory.Kind{},
			sqlite.Kind{},
			postgres.Kind{},
		},
		Served: []string{
			"rest+json", "rest+proto", "grpc+proto",
			"connect+proto", "connect+protojson", "grpcweb+proto", "grpcweb+protojson",
		},
		Dialects: []call.Dialect{
			call.GRPC("grpc+proto"),
			call.Connect("connect+proto"),
			call.Web("grpcweb+proto"),
			call.REST("rest+json"),
		},
		Baseline: "rest+json",
		KeptIn:   "memory",
		ServedIn: "sqlite:%s.db",
	}
}
