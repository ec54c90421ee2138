package protocoltest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var lifetimeChecks = []check{
	{"the handler sees the caller's deadline", unary, beside(deadlineCrosses)},
	{"a call without a deadline gives the handler none", unary, noDeadline},
	{"a deadline that passes ends caller and handler", unary, deadlinePasses},
	{"a call begun after its deadline is DEADLINE_EXCEEDED", unary, deadlinePast},
	{"a cancelled call ends caller and handler", unary, cancelled},
	{"a cancelled stream ends caller and handler", serverStream, cancelledStream},
	{"a server that ends finishes its calls and refuses others", unary, graceful},
	{"a server that ends finishes its streams", serverStream, gracefulStream},
	{"a server that ends finishes what its callers stream", clientStream, gracefulUpload},
	{"a listener that fails ends the server and its connections", unary, listenerFails},
	{"a server that is gone is refused", unary, gone},
	{"a connection cut in a call is reset", unary, cutInCall},
	{"a connection cut in a stream is reset", serverStream, cutInStream},
	{"a client survives a cut connection", unary, survives},
}

func deadlineCrosses(t *testing.T, s *suite) {
	// An hour and a minute's tolerance: a wrong unit shows, a slow machine not.
	const far, tolerance = time.Hour, time.Minute
	seen := make(chan time.Duration, 1)
	_, c := s.start(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		left := time.Duration(-1)
		if d, ok := ctx.Deadline(); ok {
			left = time.Until(d)
		}
		seen <- left
		return conformance.Handler{}.Handle(ctx, m, st)
	}))
	ctx, cancel := context.WithTimeout(t.Context(), far)
	defer cancel()
	if _, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{}); err != nil {
		t.Fatal(err)
	}
	if left := await(t, seen, "the handler"); left < far-tolerance || left > far+tolerance {
		t.Errorf("the handler has %s left of %s", left, far)
	}
}

func noDeadline(t *testing.T, s *suite) {
	has := make(chan bool, 1)
	_, c := s.start(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		_, ok := ctx.Deadline()
		has <- ok
		return conformance.Handler{}.Handle(ctx, m, st)
	}))
	if _, err := call(context.Background(), c, conformance.Echo, &conformance.EchoRequest{}); err != nil {
		t.Fatal(err)
	}
	if await(t, has, "the handler") {
		t.Error("the handler has a deadline")
	}
}

// deadlinePasses gives a call longer until it reaches the handler before its
// deadline: how long that takes is the machine's affair.
func deadlinePasses(t *testing.T, s *suite) {
	h, began, ended := watched(conformance.Handler{})
	_, c := s.start(t, h)
	wantEcho(t, c, conformance.Ordinary()) // connects
	<-began
	for limit, reached := 250*time.Millisecond, false; !reached; limit *= 2 {
		if limit > patience {
			t.Fatal("no call reached the handler")
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{Hang: true})
		cancel()
		wantAnswer(t, err, rpc.DeadlineExceeded)
		select {
		case <-began:
			reached = true
		default:
		}
	}
	await(t, ended, "the handler's context to end")
	wantEcho(t, c, conformance.Ordinary())
}

func deadlinePast(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{})
	wantAnswer(t, err, rpc.DeadlineExceeded)
}

func cancelled(t *testing.T, s *suite) {
	h, began, ended := watched(conformance.Handler{})
	_, c := s.start(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-began
		cancel()
	}()
	_, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{Hang: true})
	wantAnswer(t, err, rpc.Canceled)
	await(t, ended, "the handler's context to end")
	wantEcho(t, c, conformance.Ordinary())
}

func cancelledStream(t *testing.T, s *suite) {
	h, _, ended := watched(sendsOneAndHangs)
	_, c := s.start(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	err := rpc.Call(ctx, c, conformance.Expand, []any{&conformance.ExpandRequest{}}, func(any) error {
		cancel()
		return nil
	})
	wantAnswer(t, err, rpc.Canceled)
	await(t, ended, "the handler's context to end")
}

func graceful(t *testing.T, s *suite) {
	began, release := make(chan struct{}), make(chan struct{})
	srv, c := s.start(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		close(began)
		<-release
		if err := ctx.Err(); err != nil {
			return err
		}
		return conformance.Handler{}.Handle(ctx, m, st)
	}))
	result := make(chan error, 1)
	go func() {
		_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: conformance.Ordinary()})
		result <- err
	}()
	await(t, began, "the handler")
	srv.end()
	await(t, srv.closed, "the listener to close")

	_, err := call(patient(t), s.dial(t, srv.addr()), conformance.Echo, &conformance.EchoRequest{})
	wantFault(t, err, rpc.Refused)

	close(release)
	if err := await(t, result, "the call in flight"); err != nil {
		t.Errorf("the call in flight ended with %v", err)
	}
	if err := srv.ended(t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func gracefulStream(t *testing.T, s *suite) {
	const before, after = 8, 8
	release := make(chan struct{})
	srv, c := s.start(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, st rpc.Stream) error {
		for i := range before + after {
			if i == before {
				<-release
			}
			if err := st.Send(&conformance.ExpandResponse{Item: conformance.Ordinary()}); err != nil {
				return err
			}
		}
		return nil
	}))
	came, result := make(chan struct{}, before+after), make(chan error, 1)
	go func() {
		result <- rpc.Call(patient(t), c, conformance.Expand, []any{&conformance.ExpandRequest{}}, func(any) error {
			came <- struct{}{}
			return nil
		})
	}()
	for range before {
		await(t, came, "a reply")
	}
	srv.end()
	await(t, srv.closed, "the listener to close")
	close(release)
	if err := await(t, result, "the stream in flight"); err != nil {
		t.Errorf("the stream in flight ended with %v", err)
	}
	if n := len(came); n != after {
		t.Errorf("%d of %d replies came once the server was to end", n, after)
	}
	if err := srv.ended(t); err != nil {
		t.Errorf("Serve returned %v", err)
	}
}

func gracefulUpload(t *testing.T, s *suite) {
	const before, after = 4, 4
	taken, release := make(chan struct{}, before+after), make(chan struct{})
	srv, c := s.start(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, st rpc.Stream) error {
		for {
			if _, err := st.Recv(); errors.Is(err, io.EOF) {
				return st.Send(&conformance.CollectResponse{})
			} else if err != nil {
				return err
			}
			taken <- struct{}{}
		}
	}))
	result := make(chan error, 1)
	go func() {
		result <- c.Handle(patient(t), conformance.Collect, &scripted{recv: func(n int) (any, error) {
			switch n {
			case before:
				<-release
			case before + after:
				return nil, io.EOF
			}
			return &conformance.CollectRequest{Item: conformance.Ordinary()}, nil
		}})
	}()
	for range before {
		await(t, taken, "a request")
	}
	srv.end()
	await(t, srv.closed, "the listener to close")
	close(release)
	if err := await(t, result, "the stream in flight"); err != nil {
		t.Errorf("the stream in flight ended with %v", err)
	}
	if n := len(taken); n != after {
		t.Errorf("%d of %d requests came once the server was to end", n, after)
	}
}

func listenerFails(t *testing.T, s *suite) {
	l := listen(t)
	ctx, ended := patient(t), make(chan error, 1)
	go func() { ended <- s.protocol.Serve(ctx, l, conformance.Service, conformance.Handler{}, s.options()) }()
	c := s.dial(t, l.addr())
	wantEcho(t, c, conformance.Ordinary())
	if err := l.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := await(t, ended, "Serve to return"); err == nil {
		t.Error("Serve returned nil")
	}
	_, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{})
	wantError(t, err, rpc.Unavailable)
}

func gone(t *testing.T, s *suite) {
	l := listen(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := call(patient(t), s.dial(t, l.addr()), conformance.Echo, &conformance.EchoRequest{})
	wantFault(t, err, rpc.Refused)
}

func cutInCall(t *testing.T, s *suite) {
	h, began, ended := watched(conformance.Handler{})
	srv, c := s.start(t, h)
	go func() {
		<-began
		srv.cut()
	}()
	_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Hang: true})
	wantFault(t, err, rpc.Reset)
	await(t, ended, "the handler's context to end")
}

func cutInStream(t *testing.T, s *suite) {
	h, _, ended := watched(sendsOneAndHangs)
	srv, c := s.start(t, h)
	err := rpc.Call(patient(t), c, conformance.Expand, []any{&conformance.ExpandRequest{}}, func(any) error {
		srv.cut()
		return nil
	})
	wantFault(t, err, rpc.Reset)
	await(t, ended, "the handler's context to end")
}

// survives allows calls that find the cut before the client has seen it, as
// refusing to repeat a call that may have been carried out is right.
func survives(t *testing.T, s *suite) {
	srv, c := s.start(t, conformance.Handler{})
	wantEcho(t, c, conformance.Ordinary())
	srv.cut()
	ctx := patient(t)
	for {
		_, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{})
		if err == nil {
			return
		}
		wantError(t, err, rpc.Unavailable)
		if ctx.Err() != nil {
			t.Fatal("the client never connected again")
		}
	}
}

// watched tells when h began, and when the context of its call ended; it lets
// calls that end of themselves pass untold.
func watched(h rpc.Handler) (out rpc.Handler, began <-chan struct{}, ended <-chan error) {
	b, e := make(chan struct{}, 1), make(chan error, 1)
	return rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		select {
		case b <- struct{}{}:
		default:
		}
		err := h.Handle(ctx, m, s)
		if ctx.Err() != nil && err != nil { // in its wait, or in Recv
			select {
			case e <- err:
			default:
			}
		}
		return err
	}), b, e
}

var sendsOneAndHangs = rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, s rpc.Stream) error {
	if err := s.Send(&conformance.ExpandResponse{}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
})

func wantFault(t *testing.T, err error, fault rpc.Fault) {
	t.Helper()
	if e := wantError(t, err, rpc.Unavailable); e.Transport != fault {
		t.Fatalf("error %v has transport fault %q, want %q", e, e.Transport, fault)
	}
}
