package port

import (
	"errors"
	"io"
	"net"
	"testing"
)

// TestHalfOfAConnectionCanBeClosed as net/http asks for, so that a caller that
// still sends hears why its message was refused.
func TestHalfOfAConnectionCanBeClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	caller, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer caller.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := &conn{Conn: accepted, left: func() {}}
	defer c.Close()
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if n, err := caller.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the caller reads %d bytes, %v, want the end", n, err)
	}
	io.WriteString(caller, "more")
	if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
		t.Errorf("the other half gives %v", err)
	}
}
