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
	if size, known := sizeOf(body); known {
		r.ContentLength = size
	}
	r.Header.Set("Accept", jsonMedia)
	if in != nil {
		r.Header.Set("Content-Type", jsonMedia)
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

// sizeOf gives the length of a file. Without one a body goes in chunks, which some
// servers refuse, and others read late.
func sizeOf(body io.Reader) (int64, bool) {
	file, ok := body.(*os.File)
	if !ok {
		return 0, false
	}
	stat, err := file.Stat()
	if err != nil || !stat.Mode().IsRegular() {
		return 0, false
	}
	at, err := file.Seek(0, io.SeekCurrent)
	return max(stat.Size()-at, 0), err == nil
}

// take shows an answer's body, or makes an error of it.
func (o Options) take(ctx context.Context, answer *http.Response) error {
	whole := body{answer.Body}
	if answer.StatusCode < http.StatusBadRequest {
		return o.broken(ctx, o.Watch.Body(whole, answer.Header))
	}
	body, err := io.ReadAll(io.LimitReader(whole, protocol.DefaultMaxMessage))
	if err != nil {
		return o.broken(ctx, err)
	}
	f := &Failure{
		Code: rpc.CodeOfStatus(answer.StatusCode), Message: "HTTP status " + answer.Status,
		typed: mediaOf(answer.Header) != "",
	}
	said := f.take(body, answer.Header)
	f.hint = o.hint(f, unreached, misunderstood)
	if !said {
		if err := o.Watch.Body(bytes.NewReader(body), answer.Header); err != nil {
			return err
		}
	}
	return f
}

// take reads the error of an answer as tare's services and Google's APIs have it.
// Source: RFC 9457; google.aip.dev/193.
func (f *Failure) take(body []byte, h http.Header) bool {
	if mediaOf(h) == problemMedia {
		return f.problem(body)
	}
	var google struct {
		Error struct {
			Status, Message string
			Details         []json.RawMessage
		}
	}
	if mediaOf(h) != jsonMedia || json.Unmarshal(body, &google) != nil {
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

// problem reads problem details, and says whether all that they tell was read:
// what has members of its own is shown as it stands.
func (f *Failure) problem(body []byte) bool {
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
		RetryAfter                float64
		Violations                []struct{ Field, Description, Reason string }
	}
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	wrong := strict.Decode(&p)
	code, known := rpc.ParseCode(p.Code)
	if wrong != nil || p.Detail == "" || !known {
		return false
	}
	f.Code, f.Message = code, p.Detail
	for _, v := range p.Violations {
		f.Details = append(f.Details, fmt.Sprintf("field %s: %s", v.Field, v.Description))
	}
	if p.RetryAfter > 0 {
		f.Details = append(f.Details, fmt.Sprintf("retry after %v", time.Duration(p.RetryAfter*float64(time.Second))))
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
