package rpc

import (
	"context"
	"fmt"
)

// Mux is a handler of several services, each of which has one of its own. Its
// zero value has none. Services are added before the first call.
type Mux struct {
	services []*Service
	handlers map[*Method]Handler
}

// Add has h answer the calls of svc. A name that is there already is an error:
// protocols tell services apart by it.
func (x *Mux) Add(svc *Service, h Handler) error {
	for _, there := range x.services {
		if there.Name == svc.Name {
			return fmt.Errorf("service %s stands twice", svc.Name)
		}
	}
	if x.handlers == nil {
		x.handlers = make(map[*Method]Handler)
	}
	x.services = append(x.services, svc)
	for _, m := range svc.Methods {
		x.handlers[m] = h
	}
	return nil
}

// Services gives the services in the order in which they were added.
func (x *Mux) Services() []*Service { return x.services }

// Handle has a call answered by the handler of its method's service. A method
// of no service that was added is UNIMPLEMENTED.
func (x *Mux) Handle(ctx context.Context, m *Method, s Stream) error {
	h, ok := x.handlers[m]
	if !ok {
		return Errorf(Unimplemented, "no method %s", m.Path())
	}
	return h.Handle(ctx, m, s)
}
