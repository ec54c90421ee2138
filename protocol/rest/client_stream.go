package rest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/tare-bench/tare/rpc"
)

// streamed makes a call whose request is a stream. It returns after the last
// Recv of s does.
func (c *caller) streamed(ctx context.Context, s rpc.Stream) error {
	r, err := c.request(ctx)
	if err != nil {
		return err
	}
	up := c.upload(r, s)
	err = c.exchange(ctx, r, s)
	if own := up.end(); own != nil {
		return own
	}
	return err
}

// download hands a stream of replies to s.
func (c *caller) download(ctx context.Context, res *http.Response, buf *buffer, s rpc.Stream) error {
	if got := res.Header.Get("Content-Type"); got != c.streamOut.media() {
		return protocolError("content type %q, want %q", got, c.streamOut.media())
	}
	r := bufio.NewReader(res.Body)
	for {
		payload, failed, err := c.streamOut.next(r, buf, c.maxMessage)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return c.unread(ctx, err)
		case failed:
			return decodeProblem(http.StatusInternalServerError, payload)
		}
		out, err := c.parse(payload)
		if err != nil {
			return err
		}
		if err := s.Send(out); err != nil {
			return err
		}
	}
}

// upload is a request's body that a goroutine writes as the caller gives it
// messages.
type upload struct {
	body *io.PipeReader
	done chan error
}

func (c *caller) upload(r *http.Request, s rpc.Stream) upload {
	body, w := io.Pipe()
	r.Body, r.ContentLength = body, -1
	up := upload{body: body, done: make(chan error, 1)}
	go func() {
		err := c.send(w, s)
		_ = w.CloseWithError(err) // never fails; nil is the end
		if errors.Is(err, io.ErrClosedPipe) {
			err = nil // the answer is there; the rest is not wanted
		}
		up.done <- err
	}()
	return up
}

// end stops the upload and gives the error that was its caller's own.
func (u upload) end() error {
	_ = u.body.Close() // never fails
	return <-u.done
}

func (c *caller) send(w io.Writer, s rpc.Stream) error {
	buf := newBuffer()
	defer buf.free()
	for {
		in, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		buf.b = buf.b[:0]
		if err := c.streamIn.message(buf, c.in, in); err != nil {
			return rpc.Errorf(rpc.InvalidArgument, "encode %s: %v", c.method.In.Name, err)
		}
		if _, err := w.Write(buf.b); err != nil {
			return err
		}
	}
}
