package port

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tare-bench/tare/protocol"
)

// How often readiness is looked at, and how long that may take. Health checks
// get what was found last, so that nobody can have it looked at more often.
const (
	lookEvery = time.Second
	lookFor   = time.Second
)

// readiness is whether the services can answer, for whoever asks.
type readiness struct {
	find func(context.Context) error // nil: they always can
	told []protocol.Server

	mu    sync.Mutex
	why   error // that they cannot; nil where they can
	ended bool
}

var (
	errBegins = errors.New("the server begins to serve")
	errEnds   = errors.New("the server is shutting down")
)

func newReadiness(find func(context.Context) error, told []protocol.Server) *readiness {
	return &readiness{find: find, told: told, why: errBegins}
}

func (r *readiness) watch(ctx context.Context) error {
	if r.find == nil {
		return nil
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			r.look(ctx)
		}
	}
}

func (r *readiness) look(ctx context.Context) {
	var err error
	if r.find != nil {
		ctx, cancel := context.WithTimeout(ctx, lookFor)
		defer cancel()
		err = r.find(ctx)
	}
	r.say(err)
}

// end says no from now on.
func (r *readiness) end() {
	r.say(errEnds)
}

func (r *readiness) say(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.why, r.ended = why, errors.Is(why, errEnds)
	for _, s := range r.told {
		s.SetServing(why == nil)
	}
}

func (r *readiness) state() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// ServeHTTP answers whether calls should be sent here.
func (r *readiness) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if why := r.state(); why != nil {
		http.Error(w, "not ready: "+why.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}

// alive answers whether the process does; that is all there is to say.
func alive(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "alive\n") }
