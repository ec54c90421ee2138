package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/workload"
)

// errStopped is of a command that was interrupted.
var errStopped = errors.New("interrupted")

// intake is a file of records on its way in: what keeps the rules passes, and the
// rest is told.
type intake struct {
	app     *app
	dataset workload.Dataset
	rules   *validate.Rules
	rejects *json.Encoder // nil: they are told only
	file    *os.File      // of rejects

	records, rejected int64
}

// toldRejects bounds what a broken file prints; --rejects has all.
const toldRejects = 100

// read hands each record of a file that keeps the rules to take.
func (a *app) read(ctx context.Context, d workload.Dataset, m moving, path string, take func(workload.Entry) error) (in *intake, err error) {
	f, err := format(d, m.from)
	switch {
	case err != nil:
		return nil, usage(err)
	case f.Read == nil:
		return nil, usage(fmt.Errorf("format %s is only written", f.Name))
	}
	in = &intake{app: a, dataset: d}
	if in.rules, err = validate.New(d.Service); err != nil {
		return nil, err
	}
	source, size, err := a.source(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if m.rejects != "" {
		if in.file, err = create(m.rejects); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, in.file.Close()) }()
		in.rejects = json.NewEncoder(in.file)
		in.rejects.SetEscapeHTML(false)
	}
	shown := a.meter("read "+d.Item, size)
	position := &passed{Reader: source}
	losses, err := f.Read(position, func(e workload.Entry) error {
		if ctx.Err() != nil {
			return errStopped
		}
		in.records++
		shown.step(in.records, position.bytes)
		if e.Err == nil {
			e.Err = in.rules.Check(d.Type, e.Record)
		}
		if e.Err != nil {
			return in.reject(e)
		}
		return take(e)
	})
	shown.end()
	if ctx.Err() != nil {
		err = errStopped
	}
	in.tellLosses(losses)
	return in, err
}

// reject tells of a record that is not taken.
func (in *intake) reject(e workload.Entry) error {
	in.rejected++
	lines := problems(e.Err)
	if in.rejected <= toldRejects {
		who := ""
		if e.ID != "" {
			who = ", " + e.ID
		}
		for _, line := range lines {
			fmt.Fprintf(in.app.Err, "rejected: line %d, index %d%s: %s\n", e.Line, e.Index, who, line)
		}
		if in.rejected == toldRejects {
			fmt.Fprintln(in.app.Err, "further rejects are counted; --rejects FILE keeps all")
		}
	}
	if in.rejects == nil {
		return nil
	}
	if err := in.rejects.Encode(reject{e.Line, e.Index, e.ID, lines}); err != nil {
		return fmt.Errorf("keep rejects: %w", err)
	}
	return nil
}

// reject is a line of the file of rejects.
type reject struct {
	Line     int64    `json:"line"`
	Index    int64    `json:"index"`
	ID       string   `json:"id,omitempty"`
	Problems []string `json:"problems"`
}

// problems gives each rule that is broken, or the one thing that is wrong.
func problems(err error) (all []string) {
	var ruled *rpc.Error
	if errors.As(err, &ruled) {
		for _, v := range ruled.Violations {
			all = append(all, v.Field+": "+v.Description)
		}
	}
	if len(all) == 0 {
		all = []string{err.Error()}
	}
	return all
}

// tellLosses says what the file has and the records have not.
func (in *intake) tellLosses(all []workload.Loss) {
	for _, l := range all {
		fmt.Fprintf(in.app.Err, "left out: %s, %d times\n", l.What, l.Count)
	}
}

// verdict is an error where any record was rejected.
func (in *intake) verdict() error {
	if in.rejected == 0 {
		return nil
	}
	return &rejectedError{in.rejected, in.records, in.dataset.Item}
}

type rejectedError struct {
	rejected, records int64
	item              string
}

func (e *rejectedError) Error() string {
	return fmt.Sprintf("%d of %d %s were rejected", e.rejected, e.records, e.item)
}

func (e *rejectedError) Hint() string {
	return "the others have been taken; mend these and give them again, alone or with all: it is safe"
}

// passed counts what has been read.
type passed struct {
	io.Reader
	bytes int64
}

func (p *passed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.bytes += int64(n)
	return n, err
}

// source opens a file to read, and tells its size where it has one, else -1.
func (a *app) source(ctx context.Context, path string) (io.ReadCloser, int64, error) {
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, 0, fmt.Errorf("read records: %w", err)
		}
		info, err := f.Stat()
		switch {
		case err != nil:
			return nil, 0, errors.Join(fmt.Errorf("read records: %w", err), f.Close())
		case info.IsDir():
			return nil, 0, errors.Join(fmt.Errorf("read records: %s is a folder, and a file is wanted", path), f.Close())
		case !info.Mode().IsRegular():
			return f, -1, nil
		}
		return f, info.Size(), nil
	}
	// A terminal or a pipe may have nothing to read for as long as it likes, and
	// an interrupt must not wait for it. What copies ends with the process.
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, a.In)
		_ = in.CloseWithError(err)
	}()
	stop := context.AfterFunc(ctx, func() { _ = in.CloseWithError(errStopped) })
	return stdin{out, stop}, -1, nil
}

type stdin struct {
	*io.PipeReader
	stop func() bool
}

func (s stdin) Close() error {
	s.stop()
	return s.PipeReader.Close()
}
