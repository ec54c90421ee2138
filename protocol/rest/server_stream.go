package rest

import (
	"bufio"
	"errors"
	"io"
	"net/http"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

func (s *server) streaming(w http.ResponseWriter, r *http.Request) {
	if s.method.Kind == rpc.Bidi && r.ProtoMajor == 1 {
		answerFailure(w, rpc.Errorf(rpc.Unimplemented, "%s: %v", s.method.Path(), errHalfDuplex))
		return
	}
	ctx, cancel, err := s.begin(w, r)
	if err != nil {
		answerFailure(w, err)
		return
	}
	if cancel != nil {
		defer cancel()
	}
	st := &serverStream{
		incoming: incoming{server: s, w: w, r: r, buf: newBuffer()},
		flush:    http.NewResponseController(w), out: newBuffer(),
	}
	defer st.buf.free()
	defer st.out.free()
	if s.method.Kind.StreamsIn() {
		st.body = bufio.NewReader(r.Body)
	} else if err := st.open(); err != nil {
		st.end(err)
		return
	}
	if r.Method == http.MethodHead {
		st.end(st.header())
		return
	}
	st.end(s.handler.Handle(ctx, s.method, st))
}

// header answers a request for a stream's header alone, which must not wait for
// the stream.
func (s *serverStream) header() error {
	_, err := s.next()
	return err
}

// serverStream is a call of which either side, or both, streams.
type serverStream struct {
	incoming               // buf is Recv's
	out      *buffer       // Send's
	body     *bufio.Reader // where the caller streams
	ended    bool          // the caller's stream
	flush    *http.ResponseController
	started  bool // where the handler streams: a header was sent
	reply    any  // where the handler does not stream
	replies  int
}

func (s *serverStream) Recv() (any, error) {
	if s.body == nil {
		return s.next()
	}
	if !s.taken {
		s.taken = true
		if err := wantMedia(s.r.Header, s.streamIn.media()); err != nil {
			return nil, err
		}
	}
	payload, _, err := s.streamIn.next(s.body, s.buf, s.maxMessage)
	switch {
	case errors.Is(err, io.EOF):
		s.ended = true
		return nil, err
	case err != nil:
		return nil, s.unread(err)
	}
	native, err := s.in.Parse(payload)
	if err != nil {
		return nil, rpc.Errorf(rpc.InvalidArgument, "parse %s: %v", s.method.In.Name, err)
	}
	return s.in.Plain(native), nil
}

// framed is more than stands around a message in a stream.
const framed = 32

func (s *serverStream) Send(out any) error {
	s.replies++
	if !s.method.Kind.StreamsOut() {
		s.reply = out
		return nil
	}
	s.out.b = s.out.b[:0]
	if err := s.streamOut.message(s.out, s.endpoint.out, out); err != nil {
		return rpc.Errorf(rpc.Internal, "encode %s: %v", s.method.Out.Name, err)
	}
	if len(s.out.b) > s.maxMessage+framed {
		return protocol.TooLong(s.maxMessage)
	}
	return s.write()
}

// write sends what stands in out at once: the caller may wait for it.
func (s *serverStream) write() error {
	s.start()
	if _, err := s.w.Write(s.out.b); err != nil {
		return rpc.TransportError(s.r.Context(), err)
	}
	if err := s.flush.Flush(); err != nil {
		return rpc.TransportError(s.r.Context(), err)
	}
	return nil
}

func (s *serverStream) start() {
	if !s.started {
		s.started = true
		s.w.Header().Set("Content-Type", s.streamOut.media())
	}
}

// end answers with what the handler returned.
func (s *serverStream) end(err error) {
	if err == nil && !s.method.Kind.StreamsOut() {
		err = s.checkReplies(s.replies)
	}
	if s.body == nil {
		s.leave()
	} else if !s.ended && s.r.ProtoMajor == 1 {
		// net/http would read what is left of the request before it answers,
		// and so wait for a caller that waits for the answer.
		s.w.Header().Set("Connection", "close")
	}
	switch {
	case err == nil && s.method.Kind.StreamsOut():
		s.start()
	case err == nil:
		s.answer(s.w, s.r, s.out, s.reply)
	case !s.started:
		answerFailure(s.w, err)
	default:
		s.fail(err)
	}
}

// fail ends a stream whose status has been sent.
func (s *serverStream) fail(err error) {
	_, body, _ := encodeFailure(err)
	s.out.b = s.out.b[:0]
	s.streamOut.failure(s.out, body)
	_ = s.write() // the caller is gone
}
