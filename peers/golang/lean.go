package golang

import (
	"context"
	"fmt"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/lean"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/workload"
)

// prepared makes calls as bytes that stand ready, without the stack's own
// client library.
type prepared struct {
	client  *lean.Client
	framer  protocol.Framer
	options protocol.Options
	calls   []*lean.Call
}

func newPrepared(ctx context.Context, c catalog.Catalog, d *driver) (*prepared, error) {
	_, stack, err := following(c, d.start)
	if err != nil {
		return nil, err
	}
	framer, ok := stack.Protocol.(protocol.Framer)
	if !ok {
		return nil, fmt.Errorf("the lean driver does not speak %s", stack.Name)
	}
	o := stack.Options(d.start.InFlight)
	o.Timeout = d.timeout
	carriage, err := framer.Carriage(o)
	if err != nil {
		return nil, err
	}
	client, err := lean.Dial(ctx, lean.Config{
		Addr: d.start.Next.Addr, Carriage: carriage, InFlight: d.start.InFlight,
		Deadline: d.timeout, MaxMessage: o.MaxMessage,
	})
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", d.start.Next.Addr, err)
	}
	return &prepared{client: client, framer: framer, options: o}, nil
}

func (p *prepared) ready(calls []workload.Call) error {
	p.calls = p.calls[:0]
	for i := range calls {
		c, err := p.prepare(&calls[i])
		if err != nil {
			return err
		}
		p.calls = append(p.calls, c)
	}
	return nil
}

func (p *prepared) prepare(c *workload.Call) (*lean.Call, error) {
	in, _ := c.Message(0)
	frame, err := p.framer.Frame(c.Method, in, p.options)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", c.Method.Name, err)
	}
	return p.client.Prepare(frame)
}

func (p *prepared) run(ctx context.Context, slots int, pace *load.Pace, more func(int) *workload.Call, rec load.Recorder) (load.Totals, error) {
	next := func(n int) *lean.Call {
		if n < len(p.calls) {
			return p.calls[n]
		}
		c, err := p.prepare(more(n))
		if err != nil {
			panic(err) // the workload's other calls could be prepared
		}
		return c
	}
	totals, err := p.client.Drive(ctx, slots, pace, next, rec)
	return totals.Totals, err
}

// fed is nothing: every call was prepared whole.
func (p *prepared) fed() int { return 0 }

func (p *prepared) wire() record.Wire {
	w := p.client.Wire()
	return record.Wire{Conns: w.Conns, Sent: w.Sent, Received: w.Received}
}

func (p *prepared) close() error { return p.client.Close() }
