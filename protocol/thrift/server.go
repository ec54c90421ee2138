package thrift

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Serve implements protocol.Protocol.
func (Protocol) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	defer func() { _ = l.Close() }() // closed already, where it has served
	bound, err := bind(svc, o)
	if err != nil {
		return err
	}
	// Calls outlive ctx, until they have ended.
	calls, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	bound.limitReplies()
	s := &server{service: bound, handler: h, calls: calls, sessions: map[*session]bool{}}
	unhook := context.AfterFunc(ctx, func() { _ = l.Close() })
	err = s.accept(ctx, l)
	if unhook() {
		cut()
		s.end(true)
		s.running.Wait()
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	s.end(false)
	s.running.Wait()
	return nil
}

// server answers calls on connections.
type server struct {
	*service
	handler rpc.Handler
	calls   context.Context
	running sync.WaitGroup

	mu       sync.Mutex
	sessions map[*session]bool // whether each is busy with a call
	ending   bool
}

// accept serves connections until the listener fails, or ctx has closed it.
func (s *server) accept(ctx context.Context, l net.Listener) error {
	for {
		conn, err := protocol.Accept(ctx, l)
		if err != nil {
			return err
		}
		s.serve(conn)
	}
}

func (s *server) serve(conn net.Conn) {
	k := newSession(s, conn)
	s.mu.Lock()
	s.sessions[k] = false
	s.mu.Unlock()
	s.running.Go(func() {
		k.answerAll()
		_ = conn.Close() // the peer may have done so
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, k)
	})
}

// end has no more calls begin, and closes the connections that have none, or
// all.
func (s *server) end(all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	for k, busy := range s.sessions {
		if all || !busy {
			_ = k.conn.Close()
		}
	}
}

// mark says whether k may go on: with a call, or to wait for one.
func (s *server) mark(k *session, busy bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[k] = busy
	return !s.ending
}

// session is one connection of a server, and the call that it carries.
type session struct {
	frames
	server *server
	watch  *time.Timer
	leave  context.CancelFunc // of the call that is watched
	seen   chan struct{}      // holds an entry once a look at the peer has ended
	call   incoming
}

// patience is how long a handler works before the server looks whether the
// caller is still there, as code does that Apache's compiler generates.
// Source: thrift.ServerConnectivityCheckInterval.
const patience = 5 * time.Millisecond

func newSession(s *server, conn net.Conn) *session {
	k := &session{frames: frames{conn: conn, in: bufio.NewReader(conn)}, server: s, seen: make(chan struct{}, 1)}
	k.watch = time.AfterFunc(time.Hour, k.look)
	k.watch.Stop()
	return k
}

// answerAll answers calls until the connection ends, or what comes is no call.
func (k *session) answerAll() {
	for {
		n, err := k.length()
		if err != nil || !k.server.mark(k, true) {
			return
		}
		if k.answer(n) != nil || k.relax() != nil || !k.server.mark(k, false) {
			return
		}
	}
}

// look ends the call that is watched where the peer has gone. What the peer has
// sent meanwhile stays unread.
func (k *session) look() {
	if _, err := k.in.Peek(1); err != nil {
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			k.leave()
		}
	}
	k.seen <- struct{}{}
}

// watched has f run with a context that ends when the peer has gone.
func (k *session) watched(f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(k.server.calls)
	defer cancel()
	k.leave = cancel
	k.watch.Reset(patience)
	err := f(ctx)
	if k.watch.Stop() {
		return err
	}
	// A look is going on, and waits for the peer: it is to end now.
	k.hurried = true
	_ = k.conn.SetReadDeadline(time.Unix(1, 0)) // fails for a connection that is closed, and so does the look
	<-k.seen
	return err
}
