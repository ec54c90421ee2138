// Package protocol carries calls over a network, with whatever codec it is
// given. It knows no workload. Each implementation is a folder below this one,
// written as an expert in its library would write it, run through protocoltest,
// and listed in catalog.
package protocol

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// Spec is what a protocol says of itself.
type Spec struct {
	Name     string // as stacks spell it: "rest"
	Module   string // Go module of the library under test, or "std"
	About    string // one line for a person
	Codecs   []string
	Settings []setting.Setting
	// Carries says why the protocol cannot carry methods of a kind under these
	// settings, which the plan prints and Handle answers with UNIMPLEMENTED. A
	// nil Carries, or a nil error, says that it can.
	Carries func(rpc.Kind, setting.Values) error
	// Transport says how a client of these options has its calls travel, for
	// reports to judge. Nil: nothing is known of it.
	Transport func(Options) Transport
}

// Transport is how calls travel.
type Transport struct {
	HTTP         string // version; "" where it is not HTTP
	HTTPBy       string // the setting that chooses it; "" where there is no choice
	Conns        int    // that a client keeps; 0 where each call has its own
	CallsPerConn int    // that one connection is good for at a time
}

// CanCarry is what Carries says, nil where the protocol carries every kind.
func (s Spec) CanCarry(k rpc.Kind, v setting.Values) error {
	if s.Carries == nil {
		return nil
	}
	return s.Carries(k, v)
}

// AnyCodec is the Codecs of a protocol that is not wedded to any.
var AnyCodec = []string{"*"}

// Protocol makes servers and clients. It is safe for concurrent use.
type Protocol interface {
	Spec() Spec
	// Serve answers calls of svc on l with h until ctx ends, then finishes the
	// calls in flight, closes l and returns nil. A listener that fails is an
	// error.
	//
	// What h returns crosses the wire as an rpc.Error with the same code,
	// message, violations, as many as FitViolations gives, and RetryAfter. h's
	// ctx ends when the caller's deadline passes or the caller goes away; its
	// rpc.FieldsIn are those that came of o.Fields. A message longer than
	// o.MaxMessage, once decompressed, is refused with TooLong, and so is a reply
	// before it is sent, at the latest as it is compressed; one that cannot be parsed with INVALID_ARGUMENT, an unknown method with
	// UNIMPLEMENTED (REST: NOT_FOUND).
	Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o Options) error
	// Dial readies a client of the server at addr. It need not connect yet.
	Dial(ctx context.Context, addr string, svc *rpc.Service, o Options) (Conn, error)
}

// Conn is a client's hold on a server: a handler that stands elsewhere. Handle
// sends what s.Recv gives and hands each reply to s.Send. It returns nil or an
// *rpc.Error: the handler's, or one with a Transport fault. The deadline of
// ctx crosses to the server, and so do those of its rpc.FieldsOut that the
// Options name; the end of ctx ends the call. It is safe for concurrent use.
type Conn interface {
	rpc.Handler
	Close() error
}

// Options say how to carry calls. Server and client of a stack get equal ones.
type Options struct {
	Codec       codec.Codec
	Compressor  compress.Compressor // nil: messages go uncompressed, and nothing else is offered
	Settings    setting.Values      // one value for each of Spec().Settings
	InFlight    int                 // how many calls the client will have in flight, at least 1
	MaxMessage  int                 // longest message taken, and sent by a server, in bytes
	Timeout     time.Duration       // that a prepared Frame gives its call, above 0; a Conn's calls take their ctx's
	Fields      []string            // names of the header fields that cross with a Conn's calls, in lower case
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

// DefaultMaxMessage is roomy enough for a dataframe of 20 MB, and the same for
// every stack: gRPC's own default of 4 MiB would make answers unequal.
const DefaultMaxMessage = 64 << 20

// ConnsPool is the value of a "conns" setting that asks for as many connections
// as the calls in flight need: one for each, or, where calls share a
// connection, one for as many as it takes.
const ConnsPool = "pool"

// ConnsSetting declares "conns": how many connections a client keeps.
func ConnsSetting(byDefault string) setting.Setting {
	count := setting.Int("conns", "", 1, 1, 1024)
	return setting.Setting{
		Name: count.Name, Default: byDefault,
		About: "connections that a client keeps; calls in flight share them",
		Takes: ConnsPool + " (as many as the calls in flight need) or " + count.Takes,
		Check: func(v string) error {
			if v == ConnsPool {
				return nil
			}
			return count.Check(v)
		},
	}
}

// Conns gives the number of connections that a "conns" setting asks for, where
// each carries one call at a time.
func (o Options) Conns() int { return o.SharedConns(1) }

// SharedConns is Conns where each connection carries up to so many calls at a
// time.
func (o Options) SharedConns(calls int) int {
	if v := o.Settings["conns"]; v != ConnsPool {
		n, err := strconv.Atoi(v)
		if err == nil {
			return n
		}
	}
	return (o.InFlight + calls - 1) / calls
}
