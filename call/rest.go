package call

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

const (
	jsonMedia    = "application/json"
	problemMedia = "application/problem+json"
	linesMedia   = "application/x-ndjson"
)

// Fetch makes a request of HTTP with what in has as its body, as it stands; nil
// for none. An empty verb is GET, or POST with a body.
func (o Options) Fetch(ctx context.Context, verb string, in *Input) (Timing, error) {
	ctx, cancel := o.within(ctx)
	defer cancel()
	var body io.Reader
	if in != nil {
		verb, body = cmp.Or(verb, http.MethodPost), in.Reader
	}
	r, err := http.NewRequestWithContext(ctx, cmp.Or(verb, http.MethodGet), o.Target.URL.String(), body)
	if err != nil {
		return Timing{}, fmt.Errorf("make request: %w", err)
	}
	r.Header.Set("Accept", jsonMedia)
	if in != nil {
		r.Header.Set("Content-Type", jsonMedia)
		r.ContentLength = max(r.ContentLength, left(in.Reader))
	}
	if end, ok := ctx.Deadline(); ok {
		// As REST servers read it that stand before gRPC, and tare's own.
		r.Header.Set("Grpc-Timeout", protocol.FormatTimeout(max(time.Until(end), 1)))
	}
	o.fields(r.Header)
	if o.Authority != "" {
		r.Header.Del("Host")
		r.Host = o.Authority
	}
	t := &tap{client: o.client(false), watch: o.Watch}
	defer t.CloseIdleConnections()
	answer, err := t.Do(r)
	t.close()
	if err != nil {
		return t.meter.timing(), o.unanswered(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // all was read, or something worse came first
	err = o.take(ctx, answer)
	if len(answer.Trailer) > 0 {
		o.Watch.Trailer(answer.Trailer)
	}
	return t.meter.timing(), err
}

// left is how many bytes are left of a file: net/http asks no reader of its own
// accord but of a few kinds. It is 0 where that is not known.
func left(r io.Reader) int64 {
	file, ok := r.(*os.File)
	if !ok {
		return 0
	}
	about, err := file.Stat()
	if err != nil || !about.Mode().IsRegular() {
		return 0
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return max(0, about.Size()-at)
}

// take shows an answer's body, or makes an error of it.
func (o Options) take(ctx context.Context, answer *http.Response) error {
	whole := body{answer.Body}
	if answer.StatusCode < http.StatusBadRequest {
		var last lastLine
		if err := o.Watch.Body(io.TeeReader(whole, &last), answer.Header); err != nil {
			return o.broken(ctx, err)
		}
		return o.endOf(last.text, answer.Header)
	}
	body, err := io.ReadAll(io.LimitReader(whole, protocol.DefaultMaxMessage))
	if err != nil {
		return o.broken(ctx, err)
	}
	f := &Failure{Code: rpc.CodeOfStatus(answer.StatusCode), Message: "HTTP status " + answer.Status}
	said := f.take(body, answer.Header)
	f.hint = o.hint(f, unreached, misunderstood)
	if !said {
		if err := o.Watch.Body(bytes.NewReader(body), answer.Header); err != nil {
			return err
		}
	}
	return f
}

// endOf gives the failure that ends a stream of lines, whose status told of none.
func (o Options) endOf(line []byte, h http.Header) error {
	var end struct{ Error json.RawMessage }
	f := new(Failure)
	if mediaOf(h) != linesMedia || json.Unmarshal(line, &end) != nil || !f.takeProblem(end.Error) {
		return nil
	}
	f.hint = o.hint(f, unreached, misunderstood)
	return f
}

// lastLine keeps the last line that is written to it; of one that is longer than
// any message, the beginning.
type lastLine struct {
	text  []byte
	ended bool
}

func (l *lastLine) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if l.ended {
			l.text = l.text[:0]
		}
		l.text = append(l.text, line[:min(len(line), protocol.DefaultMaxMessage-len(l.text))]...)
		l.ended = line[len(line)-1] == '\n'
	}
	return len(b), nil
}

// take reads the error of an answer, if that is of a form that names a code.
func (f *Failure) take(body []byte, h http.Header) bool {
	switch mediaOf(h) {
	case problemMedia:
		return f.takeProblem(body)
	case jsonMedia:
		return f.takeGoogle(body)
	}
	return false
}

// takeProblem reads problem details with the members that tare's services add.
// Source: RFC 9457; docs/decisions/0009.
func (f *Failure) takeProblem(body []byte) bool {
	var p struct {
		Detail, Code string
		Violations   []rpc.Violation
		RetryAfter   float64 // s
	}
	if json.Unmarshal(body, &p) != nil {
		return false
	}
	code, ok := rpc.ParseCode(p.Code)
	if !ok {
		return false
	}
	f.Code, f.Message = code, p.Detail
	wait := time.Duration(min(p.RetryAfter*float64(time.Second), 1<<62))
	for _, d := range protocol.Details(&rpc.Error{Violations: p.Violations, RetryAfter: wait}) {
		f.Details = append(f.Details, told(d)...)
	}
	return true
}

// takeGoogle reads an error as Google's APIs have it.
// Source: google.aip.dev/193.
func (f *Failure) takeGoogle(body []byte) bool {
	var google struct {
		Error struct {
			Status, Message string
			Details         []json.RawMessage
		}
	}
	if json.Unmarshal(body, &google) != nil {
		return false
	}
	code, ok := rpc.ParseCode(google.Error.Status)
	if !ok {
		return false
	}
	f.Code, f.Message = code, google.Error.Message
	types := schema.Builtin().Types()
	for _, raw := range google.Error.Details {
		var d anypb.Any
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true, Resolver: types}).Unmarshal(raw, &d); err != nil {
			f.Details = append(f.Details, string(raw))
			continue
		}
		f.Details = append(f.Details, detail(&d, types)...)
	}
	return true
}

// unanswered gives why there is no answer.
func (o Options) unanswered(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ErrInterrupted
	}
	return o.explain(connect.NewError(connect.CodeUnavailable, err))
}

// broken gives why an answer ended early; nil for nil, and what was wrong on
// this side as it is.
func (o Options) broken(ctx context.Context, err error) error {
	var e *bodyError
	if errors.As(err, &e) {
		return o.unanswered(ctx, e.err)
	}
	return err
}

// bodyError is of an answer that broke off.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "read answer: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// body marks the errors of an answer, so that they are told from those of
// showing it.
type body struct{ io.Reader }

func (b body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &bodyError{err}
	}
	return n, err
}

func mediaOf(h http.Header) string {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}
