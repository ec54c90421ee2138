// Package groupcommit has callers share commits: while one is under way those
// who come wait, and all that wait when it ends are committed together. No
// timer holds anybody up: whoever comes alone is committed at once.
//
// It knows nothing of what is committed. Stores that outlive their process use
// it, since a commit there waits for a disk, however much it commits.
package groupcommit

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// ErrClosed is what an operation gets that comes after Close.
var ErrClosed = errors.New("closed")

// Config says how operations are committed.
type Config[Op any] struct {
	// Commit makes all operations of a batch durable, in this order, or none. It
	// is called by one goroutine.
	Commit func(batch []Op) error
	// Alone says of an error of Commit that it may be the fault of a single
	// operation: then each of the batch is committed by itself, so that it fails
	// alone.
	Alone func(error) bool
	// Size is roughly how many bytes an operation brings.
	Size func(Op) int
	// A batch holds at most MostOps operations, and ends with the one that takes
	// it to MostBytes, so that none of it waits for long.
	MostOps, MostBytes int
}

// Queue is where operations wait for their commit. It is safe for concurrent use.
type Queue[Op any] struct {
	Config[Op]
	waiting chan entry[Op] // without room: who waits can still leave
	closing chan struct{}
	closed  chan struct{}
	close   func()
}

type entry[Op any] struct {
	op   Op
	done chan error
}

// New starts a queue, which its user closes.
func New[Op any](c Config[Op]) *Queue[Op] {
	q := &Queue[Op]{
		Config: c, waiting: make(chan entry[Op]),
		closing: make(chan struct{}), closed: make(chan struct{}),
	}
	q.close = sync.OnceFunc(func() { close(q.closing) })
	go q.run()
	return q
}

// Do commits one operation and returns what Commit did for it. Where ctx ends
// first it returns ctx's error at once: the operation is then committed or not,
// and still read by Commit, if a batch had taken it; otherwise it is neither.
func (q *Queue[Op]) Do(ctx context.Context, op Op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := entry[Op]{op, make(chan error, 1)}
	select {
	case <-q.closing: // or a select of both might still hand it over
		return ErrClosed
	default:
	}
	select {
	case q.waiting <- e:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.closing:
		return ErrClosed
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close has no more operations come, and returns when the last is committed.
func (q *Queue[Op]) Close() {
	q.close()
	<-q.closed
}

func (q *Queue[Op]) run() {
	defer close(q.closed)
	for {
		select {
		case first := <-q.waiting:
			q.serve(q.gather(first))
		case <-q.closing:
			return
		}
	}
}

// gather gives all that wait, as far as a batch holds them.
func (q *Queue[Op]) gather(first entry[Op]) (batch []entry[Op]) {
	// Those whom the last commit set free come back at once, if they come.
	runtime.Gosched()
	batch = append(batch, first)
	for bytes := q.Size(first.op); len(batch) < q.MostOps && bytes < q.MostBytes; {
		select {
		case e := <-q.waiting:
			batch = append(batch, e)
			bytes += q.Size(e.op)
		default:
			return batch
		}
	}
	return batch
}

func (q *Queue[Op]) serve(batch []entry[Op]) {
	ops := make([]Op, len(batch))
	for i, e := range batch {
		ops[i] = e.op
	}
	err := q.Commit(ops)
	apart := err != nil && len(batch) > 1 && q.Alone(err)
	for i, e := range batch {
		if apart {
			err = q.Commit(ops[i : i+1])
		}
		e.done <- err
	}
}
