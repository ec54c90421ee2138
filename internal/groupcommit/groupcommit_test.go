package groupcommit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errBad = errors.New("bad")

// disk takes a second for each commit, as no disk should.
type disk struct{ batches [][]int }

func (d *disk) commit(batch []int) error {
	d.batches = append(d.batches, slices.Clone(batch))
	time.Sleep(time.Second)
	if slices.Contains(batch, bad) {
		return errBad
	}
	return nil
}

const bad = 666

func (d *disk) queue() *Queue[int] {
	return New(Config[int]{
		Commit: d.commit, Alone: func(err error) bool { return errors.Is(err, errBad) },
		Size: func(op int) int { return op }, MostOps: 10, MostBytes: 1000,
	})
}

// shape is how many operations each commit held.
func (d *disk) shape() (n []int) {
	for _, b := range d.batches {
		n = append(n, len(b))
	}
	return n
}

func TestWhoComesDuringACommitIsInTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		q := d.queue()
		var all sync.WaitGroup
		do := func(op int) {
			all.Go(func() {
				if err := q.Do(t.Context(), op); err != nil {
					t.Errorf("Do %d: %v", op, err)
				}
			})
			synctest.Wait()
		}
		begin := time.Now()
		for op := range 5 {
			do(op)
		}
		all.Wait()
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("five operations took %v; want one commit and one for the rest", took)
		}
		for op := range 25 { // a batch holds ten
			do(op)
		}
		all.Wait()
		do(900)
		do(600)
		do(600) // takes its batch to its bytes
		do(1)
		all.Wait()
		if got, want := d.shape(), []int{1, 4, 1, 10, 10, 4, 1, 2, 1}; !slices.Equal(got, want) {
			t.Errorf("commits held %v operations; want %v", got, want)
		}
		q.Close()
	})
}

func TestOneFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		q := d.queue()
		var all sync.WaitGroup
		for _, op := range []int{0, 1, bad, 3} {
			all.Go(func() {
				if err := q.Do(t.Context(), op); (op == bad) != errors.Is(err, errBad) {
					t.Errorf("Do %d: %v", op, err)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if got, want := d.shape(), []int{1, 3, 1, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("commits held %v operations; want %v", got, want)
		}
		q.Alone = func(error) bool { return false }
		for range 3 {
			all.Go(func() {
				if err := q.Do(t.Context(), bad); !errors.Is(err, errBad) {
					t.Errorf("Do: %v", err)
				}
			})
		}
		all.Wait()
		q.Close()
		if got := d.shape()[5:]; len(got) > 2 {
			t.Errorf("what failed for all was tried again: %v", got)
		}
	})
}

func TestWhoLeavesTheQueueIsNotCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		q := d.queue()
		var all sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for op := range 2 {
			all.Go(func() {
				if err := q.Do(ctx, op); !errors.Is(err, context.Canceled) {
					t.Errorf("Do %d: %v; want context.Canceled", op, err)
				}
			})
			synctest.Wait()
		}
		begin := time.Now()
		cancel()
		all.Wait()
		if took := time.Since(begin); took != 0 {
			t.Errorf("who left was let go after %v", took)
		}
		if err := q.Do(ctx, 2); !errors.Is(err, context.Canceled) {
			t.Errorf("Do after its context: %v; want context.Canceled", err)
		}
		q.Close()
		if got := d.batches; len(got) != 1 || !slices.Equal(got[0], []int{0}) {
			t.Errorf("commits held %v; want what a commit had taken alone", got)
		}
	})
}

func TestCloseWaitsForTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disk
		q := d.queue()
		var all sync.WaitGroup
		errs := make([]error, 2)
		for op := range errs {
			all.Go(func() { errs[op] = q.Do(t.Context(), op) })
			synctest.Wait()
		}
		begin := time.Now()
		q.Close()
		q.Close() // again is nothing
		if took := time.Since(begin); took != time.Second {
			t.Errorf("Close took %v; want the rest of the commit", took)
		}
		all.Wait()
		if errs[0] != nil || !errors.Is(errs[1], ErrClosed) {
			t.Errorf("what was taken: %v, what waited: %v; want nil and ErrClosed", errs[0], errs[1])
		}
		if err := q.Do(t.Context(), 2); !errors.Is(err, ErrClosed) {
			t.Errorf("Do after Close: %v; want ErrClosed", err)
		}
	})
}
