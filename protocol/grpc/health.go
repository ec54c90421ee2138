package grpc

import (
	"context"
	"io"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/tare-bench/tare/rpc"
)

// healthChecks answer grpc.health.v1 for each service, and for "", which is all
// of them.
type healthChecks struct {
	*health.Server
	names []string
}

func newHealth(svcs []*rpc.Service) *healthChecks {
	c := &healthChecks{Server: health.NewServer(), names: []string{""}}
	for _, svc := range svcs {
		c.names = append(c.names, svc.Name)
	}
	c.set(false)
	return c
}

func (c *healthChecks) set(serving bool) {
	status := healthv1.HealthCheckResponse_NOT_SERVING
	if serving {
		status = healthv1.HealthCheckResponse_SERVING
	}
	for _, name := range c.names {
		c.SetServingStatus(name, status)
	}
}

// register has s answer health checks and, in both versions, reflection.
func (c *healthChecks) register(s *grpc.Server) {
	healthv1.RegisterHealthServer(s, c.Server)
	reflection.Register(s)
}

// endWithServer ends the streams of grpc-go's own services as the server's
// shutdown begins. Their clients would hold them until they are cut.
func (s *server) endWithServer(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, answer grpc.StreamHandler) error {
	switch {
	case info.FullMethod == healthv1.Health_Watch_FullMethodName:
		return s.watched(srv, stream, answer)
	case strings.HasPrefix(info.FullMethod, "/grpc.reflection."):
		return answer(srv, &reflected{stream, s.draining})
	}
	return answer(srv, stream)
}

func (s *server) watched(srv any, stream grpc.ServerStream, answer grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(stream.Context())
	w := &watch{ServerStream: stream, ctx: ctx, cancel: cancel}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-s.draining:
			w.end()
		case <-ctx.Done():
		}
	}()
	err := answer(srv, w)
	cancel()
	<-ended
	return err
}

// watch is a health check's stream. It ends only when its watcher has been told
// that nothing is served any more.
type watch struct {
	grpc.ServerStream
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	said   healthv1.HealthCheckResponse_ServingStatus
	ending bool
}

func (w *watch) Context() context.Context { return w.ctx }

func (w *watch) SendMsg(m any) error {
	err := w.ServerStream.SendMsg(m)
	w.mu.Lock()
	defer w.mu.Unlock()
	if status, ok := m.(*healthv1.HealthCheckResponse); ok {
		w.said = status.GetStatus()
	}
	w.endIfTold()
	return err
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = true
	w.endIfTold()
}

func (w *watch) endIfTold() {
	if w.ending && w.said != healthv1.HealthCheckResponse_SERVING {
		w.cancel()
	}
}

// reflected is a stream of reflection, whose handler only waits for requests.
type reflected struct {
	grpc.ServerStream
	draining <-chan struct{}
}

// RecvMsg gives the stream's end once the server shuts down. The stream then
// ends, and with it the receipt that still runs.
func (r *reflected) RecvMsg(m any) error {
	received := make(chan error, 1)
	go func() { received <- r.ServerStream.RecvMsg(m) }()
	select {
	case err := <-received:
		return err
	case <-r.draining:
		return io.EOF
	}
}
