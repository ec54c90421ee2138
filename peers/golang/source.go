package golang

import (
	"iter"
	"sync"

	"github.com/tare-bench/tare/workload"
)

// source gives a trial's calls by number. As many as were expected stand ready;
// any more are made up when they are asked for, and counted.
type source struct {
	calls []workload.Call

	mu    sync.Mutex
	extra []*workload.Call
	next  func() (workload.Call, bool)
	stop  func()
}

func newSource(calls iter.Seq[workload.Call], expected int) *source {
	s := &source{calls: make([]workload.Call, expected)}
	s.next, s.stop = iter.Pull(calls)
	for i := range s.calls {
		s.calls[i], _ = s.next() // a workload's calls have no end
	}
	return s
}

// at gives call n. It is safe for concurrent use.
func (s *source) at(n int) *workload.Call {
	if n < len(s.calls) {
		return &s.calls[n]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n >= len(s.calls)+len(s.extra) {
		c, _ := s.next()
		s.extra = append(s.extra, &c)
	}
	return s.extra[n-len(s.calls)]
}

func (s *source) unprepared() int { return len(s.extra) }

func (s *source) close() { s.stop() }
