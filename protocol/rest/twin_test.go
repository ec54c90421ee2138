//go:build !race

// The race detector allocates, and empties pools at random.

package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	jsonv2 "github.com/go-json-experiment/json"
	gojson "github.com/goccy/go-json"
	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/codec"
	cborcodec "github.com/tare-bench/tare/codec/cbor"
	"github.com/tare-bench/tare/codec/goccy"
	jsoncodec "github.com/tare-bench/tare/codec/json"
	jsonv2codec "github.com/tare-bench/tare/codec/jsonv2"
	protocodec "github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/rest"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// The twin is Echo as one would write it by hand with net/http and the codec's
// library, both ends, without tare's interfaces. The adapter may cost no more.
//
// Either twin's service works on the plain structs: generated messages are
// mapped, as a service with types of its own maps them.
type twin struct {
	media     string
	marshal   func(any) ([]byte, error)
	encode    func(*bytes.Buffer, any) error
	unmarshal func([]byte, any) error
}

var twins = []struct {
	codec codec.Codec
	twin  twin
}{
	{jsoncodec.Codec{}, twin{"application/json", json.Marshal, encodeJSON, json.Unmarshal}},
	{protocodec.Codec{}, twin{"application/x-protobuf", marshalProto, encodeProto, unmarshalProto}},
	{goccy.Codec{}, twin{"application/json", gojson.Marshal, encodeGoccy, gojson.Unmarshal}},
	{jsonv2codec.Codec{}, twin{"application/json", marshalV2, encodeV2, unmarshalV2}},
	{cborcodec.Codec{}, twin{"application/cbor", cbor.Marshal, encodeCBOR, cbor.Unmarshal}},
}

func encodeJSON(buf *bytes.Buffer, v any) error { return json.NewEncoder(buf).Encode(v) }

func encodeGoccy(buf *bytes.Buffer, v any) error { return gojson.NewEncoder(buf).Encode(v) }

func marshalV2(v any) ([]byte, error)         { return jsonv2.Marshal(v) }
func encodeV2(buf *bytes.Buffer, v any) error { return jsonv2.MarshalWrite(buf, v) }
func unmarshalV2(b []byte, v any) error       { return jsonv2.Unmarshal(b, v) }

func encodeCBOR(buf *bytes.Buffer, v any) error { return cbor.NewEncoder(buf).Encode(v) }

func encodeProto(buf *bytes.Buffer, v any) error {
	b, err := appendProto(buf.AvailableBuffer(), v)
	buf.Write(b)
	return err
}

func marshalProto(v any) ([]byte, error) { return appendProto(nil, v) }

func appendProto(b []byte, v any) ([]byte, error) {
	var options proto.MarshalOptions
	switch v := v.(type) {
	case *conformance.EchoRequest:
		return options.MarshalAppend(b, conformance.Echo.In.ToProto(v))
	case *conformance.EchoResponse:
		return options.MarshalAppend(b, conformance.Echo.Out.ToProto(v))
	}
	return nil, fmt.Errorf("no message for %T", v)
}

func unmarshalProto(b []byte, v any) error {
	switch v := v.(type) {
	case *conformance.EchoRequest:
		m := conformance.Echo.In.NewProto()
		if err := proto.Unmarshal(b, m); err != nil {
			return err
		}
		*v = *conformance.Echo.In.FromProto(m).(*conformance.EchoRequest)
	case *conformance.EchoResponse:
		m := conformance.Echo.Out.NewProto()
		if err := proto.Unmarshal(b, m); err != nil {
			return err
		}
		*v = *conformance.Echo.Out.FromProto(m).(*conformance.EchoResponse)
	}
	return nil
}

var twinBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (tw twin) serve(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if v := r.Header.Get("Grpc-Timeout"); v != "" {
		ms, err := strconv.Atoi(v[:len(v)-1])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		defer cancel()
	}
	buf := twinBuffers.Get().(*bytes.Buffer)
	defer twinBuffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, protocol.DefaultMaxMessage)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var in conformance.EchoRequest
	if err := tw.unmarshal(buf.Bytes(), &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out, err := twinEcho(ctx, &in)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	buf.Reset()
	if err := tw.encode(buf, out); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", tw.media)
	_, _ = w.Write(buf.Bytes())
}

func twinEcho(_ context.Context, in *conformance.EchoRequest) (*conformance.EchoResponse, error) {
	if in.FailCode != 0 {
		return nil, errors.New(in.FailMessage)
	}
	return &conformance.EchoResponse{Item: in.Item}, nil
}

func (tw twin) echo(ctx context.Context, c *http.Client, url string, in *conformance.EchoRequest) (*conformance.EchoResponse, error) {
	body, err := tw.marshal(in)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", tw.media)
	if d, ok := ctx.Deadline(); ok {
		r.Header.Set("Grpc-Timeout", strconv.FormatInt(time.Until(d).Milliseconds(), 10)+"m")
	}
	res, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	buf := twinBuffers.Get().(*bytes.Buffer)
	defer twinBuffers.Put(buf)
	buf.Reset()
	if _, err := buf.ReadFrom(io.LimitReader(res.Body, protocol.DefaultMaxMessage)); err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", res.StatusCode, buf)
	}
	out := new(conformance.EchoResponse)
	if err := tw.unmarshal(buf.Bytes(), out); err != nil {
		return nil, err
	}
	return out, nil
}

// start gives a function that makes one call of the twin.
func (tw twin) start(t testing.TB, item *conformance.Item) func() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/echo", tw.serve)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	l := listen(t)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1, MaxConnsPerHost: 1, DisableCompression: true}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		_ = srv.Close()
		<-done
	})
	url := "http://" + l.Addr().String() + "/v1/echo"
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	t.Cleanup(cancel)
	in := &conformance.EchoRequest{Item: item}
	return func() {
		if _, err := tw.echo(ctx, client, url, in); err != nil {
			t.Fatal(err)
		}
	}
}

// startAdapter gives a function that makes one call of the protocol.
func startAdapter(t testing.TB, c codec.Codec, item *conformance.Item) func() {
	p := rest.New()
	settings, err := setting.Resolve(p.Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := protocol.Options{Codec: c, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage}
	l := listen(t)
	serving, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(serving, l, conformance.Service, conformance.Handler{}, o) }()
	conn, err := p.Dial(serving, l.Addr().String(), conformance.Service, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		end()
		<-done
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	t.Cleanup(cancel)
	in := &conformance.EchoRequest{Item: item}
	return func() {
		if _, err := rpc.Invoke(ctx, conn, conformance.Echo, in); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAllocatesNoMoreThanItsTwin allows 2 %, for what pools lose to garbage
// collection.
func TestAllocatesNoMoreThanItsTwin(t *testing.T) {
	const warm, runs, bar = 200, 2000, 1.02
	for _, pair := range twins {
		t.Run(pair.codec.Spec().Name, func(t *testing.T) {
			measure := func(call func()) float64 {
				for range warm {
					call()
				}
				return testing.AllocsPerRun(runs, call)
			}
			item := conformance.Ordinary()
			adapter, twin := measure(startAdapter(t, pair.codec, item)), measure(pair.twin.start(t, item))
			t.Logf("adapter %v, twin %v allocations per call", adapter, twin)
			if adapter > bar*twin {
				t.Errorf("adapter allocates %v times per call, its twin %v", adapter, twin)
			}
		})
	}
}

// TestTakesNoMoreMemoryThanItsTwin has messages of 1 MB, of which a copy more
// would show; it allows 5 %. Without garbage collection pools lose nothing.
func TestTakesNoMoreMemoryThanItsTwin(t *testing.T) {
	const warm, runs, bar = 10, 40, 1.05
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, pair := range twins {
		t.Run(pair.codec.Spec().Name, func(t *testing.T) {
			measure := func(call func()) float64 {
				for range 2 { // which empties the pools of other tests' buffers
					runtime.GC()
				}
				for range warm {
					call()
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range runs {
					call()
				}
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc-before.TotalAlloc) / runs
			}
			item := &conformance.Item{Text: strings.Repeat("a", 1e6)}
			adapter, twin := measure(startAdapter(t, pair.codec, item)), measure(pair.twin.start(t, item))
			t.Logf("adapter %.0f, twin %.0f bytes per call", adapter, twin)
			if adapter > bar*twin {
				t.Errorf("adapter takes %.0f bytes per call, its twin %.0f", adapter, twin)
			}
		})
	}
}

func BenchmarkEcho(b *testing.B) {
	for _, pair := range twins {
		name := pair.codec.Spec().Name
		b.Run(name+"/adapter", func(b *testing.B) { benchmark(b, startAdapter(b, pair.codec, conformance.Ordinary())) })
		b.Run(name+"/twin", func(b *testing.B) { benchmark(b, pair.twin.start(b, conformance.Ordinary())) })
	}
}

func benchmark(b *testing.B, call func()) {
	b.ReportAllocs()
	for b.Loop() {
		call()
	}
}
