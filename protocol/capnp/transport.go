package capnp

import (
	"net"
	"sync"

	"capnproto.org/go/capnp/v3"
	wire "capnproto.org/go/capnp/v3/std/capnp/rpc"

	"github.com/tare-bench/tare/protocol"
)

// stream puts the library's messages on a connection as its own transport does,
// with bounds that follow the protocol's, and notes which calls are unanswered.
type stream struct {
	*capnp.Decoder
	*capnp.Encoder
	conn    net.Conn
	longest int // message of a call

	mu         sync.Mutex
	unanswered map[uint32]bool // questions of the peer, by their numbers
	held       int             // streams that the peer has not ended
	quiet      chan struct{}   // closed once there are none and more are not awaited; nil until then
}

// slack is room for what the RPC has around a message, and for messages that
// are longer than they may be, so that their callers hear of it. A longer one
// ends the connection.
const slack = 1 << 20

func newStream(conn net.Conn, maxMessage int) *stream {
	s := &stream{
		Decoder: capnp.NewDecoder(conn), Encoder: capnp.NewEncoder(conn), conn: conn, longest: maxMessage,
		unanswered: make(map[uint32]bool),
	}
	s.MaxMessageSize = uint64(max(maxMessage, protocol.DefaultMaxMessage)) + slack
	return s
}

func (s *stream) Close() error { return s.conn.Close() }

// Decode implements transport.Codec.
func (s *stream) Decode() (*capnp.Message, error) {
	msg, err := s.Decoder.Decode()
	if err != nil {
		return nil, err
	}
	size, err := msg.TotalSize()
	if err != nil {
		return nil, err
	}
	msg.ResetReadLimit(2 * size) // once by the library, which looks at parts, and once by the binding
	s.noteReceived(msg)
	return msg, nil
}

// Encode implements transport.Codec.
func (s *stream) Encode(msg *capnp.Message) error {
	err := s.Encoder.Encode(lean(msg, s.longest))
	s.noteSent(msg)
	return err
}

// noteReceived follows the peer's questions. Those that are asked of the peer have
// numbers of their own, and may be the same.
func (s *stream) noteReceived(msg *capnp.Message) {
	m, err := wire.ReadRootMessage(msg)
	if err != nil {
		return // as the library will find
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Which() {
	case wire.Message_Which_call:
		if c, err := m.Call(); err == nil {
			s.unanswered[c.QuestionId()] = true
		}
	case wire.Message_Which_finish:
		if f, err := m.Finish(); err == nil {
			delete(s.unanswered, f.QuestionId())
		}
	}
	s.settle()
}

// noteSent follows the answers to them.
func (s *stream) noteSent(msg *capnp.Message) {
	m, err := wire.ReadRootMessage(msg)
	if err != nil || m.Which() != wire.Message_Which_return {
		return
	}
	r, err := m.Return()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unanswered, r.AnswerId())
	s.settle()
}

// settle closes quiet where it is time.
func (s *stream) settle() {
	if s.quiet != nil && len(s.unanswered)+s.held == 0 {
		select {
		case <-s.quiet:
		default:
			close(s.quiet)
		}
	}
}

// answered gives what is closed once the peer has no answer to wait for.
func (s *stream) answered() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quiet == nil {
		s.quiet = make(chan struct{})
	}
	s.settle()
	return s.quiet
}

// hold has the peer wait for something, until what it gives is called.
func (s *stream) hold() (settle func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
		s.settle()
	}
}
