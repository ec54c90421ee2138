package protocoltest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var messageChecks = []check{
	{"an ordinary message comes back equal", unary, ordinary},
	{"an empty message is a message", unary, empty},
	{"replies equal what was sent", unary, examples},
	{"a message of 20 MB comes back equal", unary, large},
	{"each of 64 callers gets its own answer", unary, concurrent},
	{"the longest message allowed passes, one byte more does not", unary, longest},
	{"a request beyond the limit is RESOURCE_EXHAUSTED", unary, requestTooLong},
	{"a reply beyond the limit is RESOURCE_EXHAUSTED", unary, replyTooLong},
}

func ordinary(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	wantEcho(t, c, conformance.Ordinary())
	wantEcho(t, c, conformance.Ordinary())
}

func empty(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	wantEcho(t, c, nil)
	wantEcho(t, c, &conformance.Item{})
}

// examples takes an error for an item that the codec has no form for, never a
// changed value.
func examples(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	for _, e := range conformance.Examples() {
		t.Run(e.Name, func(t *testing.T) {
			out, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: e.Item})
			unnamed := s.stack.Codec.Spec().ClosedEnums && e.Item.Unnamed()
			if err != nil && (e.NotJSON || unnamed) {
				if code := rpc.ErrorOf(err).Code; code != rpc.InvalidArgument && code != rpc.Internal {
					t.Fatalf("refused with %v, want %s or %s", err, rpc.InvalidArgument, rpc.Internal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantReplies(t, out, &conformance.EchoResponse{Item: e.Item})
		})
	}
}

// large sends blocks that compress, since a compressor under the race detector
// takes a minute for 20 MB of noise, and of which no two are equal.
func large(t *testing.T, s *suite) {
	const blocks, block = 5_000, 4_000
	_, c := s.start(t, conformance.Handler{})
	noise := make([]byte, block)
	random := rand.NewChaCha8([32]byte{20})
	_, _ = random.Read(noise) // never fails
	blob := make([]byte, 0, blocks*block)
	for i := range blocks {
		blob = append(blob, noise...)
		binary.BigEndian.PutUint32(blob[len(blob)-block:], uint32(i))
	}
	wantEcho(t, c, &conformance.Item{Blob: blob})
}

func concurrent(t *testing.T, s *suite) {
	const callers, calls = 64, 10
	_, c := s.start(t, conformance.Handler{})
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for n := range calls {
				item := &conformance.Item{Text: fmt.Sprintf("call %d of caller %d", n, caller), Number: int64(caller)}
				out, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: item})
				if err != nil || len(out) != 1 {
					t.Errorf("%d replies, error %v", len(out), err)
					return
				}
				if diff := conformance.Diff(&conformance.EchoResponse{Item: item}, out[0]); diff != "" {
					t.Errorf("caller %d got another's answer: %s", caller, diff)
				}
			}
		})
	}
	wg.Wait()
}

func longest(t *testing.T, s *suite) {
	in := &conformance.EchoRequest{Item: &conformance.Item{Text: strings.Repeat("a", 10_000)}}
	size := len(s.encode(t, conformance.Echo.In, in))
	for _, test := range []struct{ limit, want int }{
		{size, int(rpc.OK)}, {size - 1, int(rpc.ResourceExhausted)},
	} {
		srv := s.serveWith(t, conformance.Handler{}, conformance.Service, s.limited(test.limit))
		_, err := call(patient(t), s.dial(t, srv.addr()), conformance.Echo, in)
		switch want := rpc.Code(test.want); {
		case want != rpc.OK:
			wantAnswer(t, err, want)
		case err != nil:
			t.Fatalf("a message as long as the limit: %v", err)
		}
	}
}

const (
	lowLimit = 64 << 10
	tooLong  = 1 << 20 // compresses to far below lowLimit
)

func requestTooLong(t *testing.T, s *suite) {
	srv := s.serveWith(t, conformance.Handler{}, conformance.Service, s.limited(lowLimit))
	c := s.dial(t, srv.addr())
	in := &conformance.EchoRequest{Item: &conformance.Item{Text: strings.Repeat("a", tooLong)}}
	for range 3 {
		_, err := call(patient(t), c, conformance.Echo, in)
		wantTooLong(t, err)
		wantEcho(t, c, conformance.Ordinary())
	}
}

// limitedReplies gives options with which the client, and then the server, holds
// replies to a limit. A server may go by what is left of one once compressed.
func (s *suite) limitedReplies() []limitedSides {
	sides := []limitedSides{{s.options(), s.limited(lowLimit)}}
	if s.options().Compressor == nil {
		sides = append(sides, limitedSides{s.limited(lowLimit), s.options()})
	}
	return sides
}

type limitedSides struct{ server, client protocol.Options }

func replyTooLong(t *testing.T, s *suite) {
	for _, limited := range s.limitedReplies() {
		srv := s.serveWith(t, rpc.HandlerFunc(lengthen), conformance.Service, limited.server)
		c := s.dialWith(t, srv.addr(), limited.client)
		in := &conformance.EchoRequest{Item: &conformance.Item{Number: tooLong}}
		for range 3 {
			_, err := call(patient(t), c, conformance.Echo, in)
			wantTooLong(t, err)
			if _, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: &conformance.Item{Number: 1}}); err != nil {
				t.Errorf("a short reply after a long one: %v", err)
			}
		}
	}
}

// lengthen answers with a text as long as it is asked for.
func lengthen(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
	in, err := s.Recv()
	if err != nil {
		return err
	}
	n := int(in.(*conformance.EchoRequest).Item.Number)
	return s.Send(&conformance.EchoResponse{Item: &conformance.Item{Text: strings.Repeat("a", n)}})
}

// wantTooLong wants what every protocol says of a message beyond lowLimit.
func wantTooLong(t *testing.T, err error) {
	t.Helper()
	if got, want := wantAnswer(t, err, rpc.ResourceExhausted).Message, protocol.TooLong(lowLimit).Message; got != want {
		t.Errorf("a message beyond the limit gives %q, want %q", got, want)
	}
}

func (s *suite) limited(bytes int) protocol.Options {
	o := s.options()
	o.MaxMessage = bytes
	return o
}

func (s *suite) encode(t *testing.T, typ *rpc.Type, plain any) []byte {
	t.Helper()
	b, err := s.stack.Codec.Bind(typ)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Append(nil, b.Native(plain))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
