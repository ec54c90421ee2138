package cli

import (
	"context"
	"iter"
	"maps"
	"net"
	"reflect"
	"strings"
	"sync"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/workloadtest"
)

// withUnfair adds contenders whose clients are built as those of bad comparisons
// are, a server that does not run, and workloads: one whose payload is all zeros,
// and one whose calls move items in bulk.
func withUnfair(c catalog.Catalog) catalog.Catalog {
	sound := c.Protocols[0]
	for name, unfair := range map[string]client{
		"forgetful": {every: 80, redial: true},
		"pinched":   {pinch: true},
		"unread":    {every: 1, mute: true},
		"careless":  {after: probes, every: 50, mute: true},
	} {
		c.Protocols = append(c.Protocols, unfairProtocol{sound, name, unfair})
	}
	c.Protocols = append(c.Protocols, gone{unfairProtocol{Protocol: sound, name: "gone"}})
	c.Workloads = append(c.Workloads, zeros{c.Workloads[0]}, workloadtest.Bulk{})
	return c
}

// client is what a client does wrong at some of its calls.
type client struct {
	after, every int
	redial       bool // forget its connections
	mute         bool // read no reply
	pinch        bool // keep two connections, and say that it is a pool
}

type unfairProtocol struct {
	protocol.Protocol
	name   string
	client client
}

func (p unfairProtocol) Spec() protocol.Spec {
	s := p.Protocol.Spec()
	s.Name = p.name
	return s
}

func (p unfairProtocol) Dial(ctx context.Context, addr string, svc *rpc.Service, o protocol.Options) (protocol.Conn, error) {
	if p.client.pinch {
		o.Settings = maps.Clone(o.Settings)
		o.Settings["conns"] = "2"
	}
	dial := func() (protocol.Conn, error) { return p.Protocol.Dial(ctx, addr, svc, o) }
	conn, err := dial()
	if err != nil || p.client.every == 0 {
		return conn, err
	}
	return &unfairConn{client: p.client, dial: dial, conn: conn}, nil
}

type unfairConn struct {
	client
	dial func() (protocol.Conn, error)

	mu    sync.Mutex
	conn  protocol.Conn
	calls int
}

func (c *unfairConn) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	conn, wrong, err := c.next()
	if err != nil {
		return err
	}
	if wrong && c.mute {
		s = mute{s}
	}
	return conn.Handle(ctx, m, s)
}

func (c *unfairConn) next() (_ protocol.Conn, wrong bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	wrong = c.calls > c.after && c.calls%c.every == 0
	if wrong && c.redial {
		if err := c.conn.Close(); err != nil {
			return nil, wrong, err
		}
		c.conn, err = c.dial()
	}
	return c.conn, wrong, err
}

func (c *unfairConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn.Close()
}

// mute hands no reply on.
type mute struct{ rpc.Stream }

func (mute) Send(any) error { return nil }

// gone is a server that hangs up before the first call.
type gone struct{ unfairProtocol }

func (gone) Serve(ctx context.Context, l net.Listener, _ *rpc.Service, _ rpc.Handler, _ protocol.Options) error {
	if err := l.Close(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// zeros is another workload, with long texts of zeros in the lines of its calls.
type zeros struct{ workload.Workload }

func (w zeros) Spec() workload.Spec {
	s := w.Workload.Spec()
	s.Name = "zeros"
	return s
}

func (w zeros) Calls(leg string, params setting.Values, seed uint64) iter.Seq[workload.Call] {
	return func(yield func(workload.Call) bool) {
		for call := range w.Workload.Calls(leg, params, seed) {
			fill(reflect.ValueOf(call.In[0]).Elem())
			if !yield(call) {
				return
			}
		}
	}
}

// fill makes the last text of each item of each list a long one.
func fill(message reflect.Value) {
	for i := range message.NumField() {
		list := message.Field(i)
		if list.Kind() != reflect.Slice {
			continue
		}
		for n := range list.Len() {
			item := list.Index(n)
			for j := item.NumField() - 1; j >= 0; j-- {
				if item.Field(j).Kind() == reflect.String {
					item.Field(j).SetString(strings.Repeat("0", 1000))
					break
				}
			}
		}
	}
}
