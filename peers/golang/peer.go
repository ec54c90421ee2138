// Package golang is the Go process on the far side of package peer: it serves
// any tier of any workload in the catalogue, or drives calls at one. The runner
// starts it as "tare peer"; a peer in another language does what is here.
package golang

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/record"
)

// role is what a process does between its handshake and the end of its input.
type role interface {
	Addr() string         // where it listens, or ""
	Failed() <-chan error // receives what ended the role by itself
	Close() error
	usage() (record.Usage, error)
	probe(ctx context.Context) ([]peer.Answer, error)
	trial(ctx context.Context, t peer.Trial) (*record.Load, error)
	// profile begins a profile, or ends it and gives its phases.
	profile(what string) (*record.Phases, error)
	// payload samples what the calls carry, replies of the probes included;
	// nil where there is nothing to say.
	payload() *record.Payload
}

// Run speaks for one process until in ends, which is how it is told to end: it
// then finishes the calls in flight and returns nil. It returns early with what
// made it unable to go on, having said so on out if that was still to be said.
func Run(ctx context.Context, c catalog.Catalog, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), 16<<20)
	say := json.NewEncoder(out)

	r, keptTo, err := begin(ctx, c, lines)
	ready := peer.Ready{Format: peer.Format, PID: os.Getpid(), Runtime: runtime.Version()}
	if err != nil {
		ready.Error = err.Error()
		return errors.Join(err, say.Encode(ready))
	}
	ready.Addr, ready.Workers = r.Addr(), keptTo
	if err := say.Encode(ready); err != nil {
		return errors.Join(err, r.Close())
	}
	return errors.Join(converse(ctx, cancel, r, lines, say), r.Close())
}

// begin takes up its role, and says to how many processors it then keeps.
func begin(ctx context.Context, c catalog.Catalog, lines *bufio.Scanner) (role, int, error) {
	start, err := greeting(lines)
	if err != nil {
		return nil, 0, err
	}
	switch start.Role {
	case peer.Serve:
		KeepTo(start.Workers)
		r, err := serve(ctx, c, start)
		return r, start.Workers, err
	case peer.Drive:
		r, err := drive(ctx, c, start)
		return r, 0, err
	}
	return nil, 0, fmt.Errorf("unknown role %q", start.Role)
}

// KeepTo has the whole process run on so many processors at once, collection of
// garbage included, as servers with one thread do; 0 leaves it as it is. What the
// kernel does for it in system calls is besides.
func KeepTo(workers int) {
	if workers > 0 {
		runtime.GOMAXPROCS(workers)
	}
}

func greeting(lines *bufio.Scanner) (peer.Start, error) {
	var start peer.Start
	if !lines.Scan() {
		return start, fmt.Errorf("read first line: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF))
	}
	if err := json.Unmarshal(lines.Bytes(), &start); err != nil {
		return start, fmt.Errorf("read first line: %w", err)
	}
	if start.Format != peer.Format {
		return start, fmt.Errorf("asked to speak format %d of the peer messages; this is %d", start.Format, peer.Format)
	}
	return start, nil
}

// converse answers requests one by one until there are no more. The end of the
// input ends a trial that is under way.
func converse(ctx context.Context, cancel context.CancelFunc, r role, lines *bufio.Scanner, say *json.Encoder) error {
	requests := make(chan []byte)
	ended := make(chan error, 1)
	go func() { // ends with its input, which the process outlives by no more than its last calls
		defer close(requests)
		for lines.Scan() {
			requests <- append([]byte(nil), lines.Bytes()...)
		}
		cancel()
		ended <- lines.Err()
	}()
	for {
		select {
		case err := <-r.Failed():
			return err
		case line, more := <-requests:
			if !more {
				return <-ended
			}
			if err := say.Encode(answer(ctx, r, line)); err != nil {
				return fmt.Errorf("answer the runner: %w", err)
			}
		}
	}
}

func answer(ctx context.Context, r role, line []byte) (reply peer.Reply) {
	var q peer.Request
	err := json.Unmarshal(line, &q)
	switch {
	case err != nil:
	case q.Usage:
		var u record.Usage
		u, err = r.usage()
		reply.Usage = &u
	case q.Probe:
		reply.Probe, err = r.probe(ctx)
		reply.Payload = r.payload()
	case q.Trial != nil:
		reply.Trial, err = r.trial(ctx, *q.Trial)
	case q.Profile != "":
		reply.Profile, err = r.profile(q.Profile)
	default:
		err = fmt.Errorf("unknown request %s", line)
	}
	if err != nil {
		return peer.Reply{Error: err.Error()}
	}
	return reply
}
