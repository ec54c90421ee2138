package observe

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/rpc"
)

// What a log may look like.
const (
	LogText = "text"
	LogJSON = "json"
)

// NewLog gives a logger that writes to w, from a level (debug, info, warn,
// error) on, in a format (LogText, LogJSON).
func NewLog(w io.Writer, level, format string) (*slog.Logger, error) {
	var from slog.Level
	switch strings.ToLower(level) {
	case "debug", "info", "warn", "error":
		if err := from.UnmarshalText([]byte(level)); err != nil {
			return nil, fmt.Errorf("log level %q: %w", level, err)
		}
	default:
		return nil, fmt.Errorf("log level %q: there is debug, info, warn and error", level)
	}
	o := &slog.HandlerOptions{Level: from}
	switch format {
	case LogText:
		return slog.New(slog.NewTextHandler(w, o)), nil
	case LogJSON:
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("log format %q: there is %s and %s", format, LogText, LogJSON)
}

// levels are those of a call's line, by its code: what the caller did is news
// for the caller; what the service did is somebody's work.
var levels = [...]slog.Level{
	rpc.OK:                 slog.LevelDebug,
	rpc.Canceled:           slog.LevelDebug,
	rpc.Unknown:            slog.LevelError,
	rpc.InvalidArgument:    slog.LevelInfo,
	rpc.DeadlineExceeded:   slog.LevelWarn,
	rpc.NotFound:           slog.LevelInfo,
	rpc.AlreadyExists:      slog.LevelInfo,
	rpc.PermissionDenied:   slog.LevelInfo,
	rpc.ResourceExhausted:  slog.LevelWarn,
	rpc.FailedPrecondition: slog.LevelInfo,
	rpc.Aborted:            slog.LevelInfo,
	rpc.OutOfRange:         slog.LevelInfo,
	rpc.Unimplemented:      slog.LevelInfo,
	rpc.Internal:           slog.LevelError,
	rpc.Unavailable:        slog.LevelError,
	rpc.DataLoss:           slog.LevelError,
	rpc.Unauthenticated:    slog.LevelInfo,
}

// told are the codes whose text is logged: it tells of the service's own
// trouble. That of others is made of what the caller sent.
var told = [len(levels)]bool{
	rpc.Unknown: true, rpc.Internal: true, rpc.Unavailable: true, rpc.DataLoss: true,
	rpc.ResourceExhausted: true, rpc.DeadlineExceeded: true,
}

// longestCause is as much of an error's text as is kept.
const longestCause = 1 << 10

// cause is what may be told of an error.
func cause(err error, code rpc.Code) string {
	if err == nil || code >= 0 && int(code) < len(told) && !told[code] {
		return ""
	}
	text := rpc.ErrorOf(err).Message
	if len(text) > longestCause {
		text = strings.ToValidUTF8(text[:longestCause], "") + "…"
	}
	return text
}

// outside is what a caller is told of an error.
func outside(err error) error {
	e := rpc.ErrorOf(err)
	if e == nil || e.Outside == "" {
		return err
	}
	told := *e
	told.Message, told.Outside = e.Outside, ""
	return &told
}

func levelOf(code rpc.Code) slog.Level {
	if code >= 0 && int(code) < len(levels) {
		return levels[code]
	}
	return slog.LevelError
}

// lines writes a line for each call. An overload can fail calls faster than
// anybody reads: of each code, so many a second are written and the rest counted.
type lines struct {
	log    *slog.Logger
	quotas [len(levels) + 1]quota
}

const linesPerSecond = 50

func newLines(log *slog.Logger) *lines { return &lines{log: log} }

func (l *lines) write(ctx context.Context, m *rpc.Method, err error, code rpc.Code, begun, ended time.Time) {
	level := levelOf(code)
	if !l.log.Enabled(ctx, level) {
		return
	}
	message := "call answered"
	unwritten := int64(0)
	if err != nil {
		message = "call failed"
		var ok bool
		if unwritten, ok = l.quota(code).take(ended); !ok {
			return
		}
	}
	attrs := callAttrs(m, err, code, ended.Sub(begun))
	if peer := peerOf(ctx); peer != "" {
		attrs = append(attrs, slog.String("peer", peer))
	}
	if unwritten > 0 {
		attrs = append(attrs, slog.Int64("unwritten", unwritten))
	}
	l.log.LogAttrs(ctx, level, message, attrs...)
}

func (l *lines) quota(code rpc.Code) *quota {
	if code < 0 || int(code) >= len(levels) {
		return &l.quotas[len(levels)]
	}
	return &l.quotas[code]
}

// quota lets linesPerSecond pass. That a few more pass at a second's turn is
// no harm.
type quota struct{ second, taken, refused atomic.Int64 }

// take says whether one more may pass, and how many were refused since one did.
func (q *quota) take(now time.Time) (refused int64, ok bool) {
	if second := now.Unix(); q.second.Swap(second) != second {
		q.taken.Store(0)
	}
	if q.taken.Add(1) > linesPerSecond {
		q.refused.Add(1)
		return 0, false
	}
	return q.refused.Swap(0), true
}

// mostReasons is as many broken rules as a line names.
const mostReasons = 8

// callAttrs are what may be told of a call. Of what is wrong with a request that
// is the rules' names: field paths may hold keys that the caller sent.
func callAttrs(m *rpc.Method, err error, code rpc.Code, took time.Duration) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("service", m.Service), slog.String("method", m.Name),
		slog.String("code", code.String()), slog.Float64("seconds", took.Seconds()),
	}
	if err == nil {
		return attrs
	}
	if text := cause(err, code); text != "" {
		attrs = append(attrs, slog.String("error", text))
	}
	e := rpc.ErrorOf(err)
	if n := len(e.Violations); n > 0 {
		var reasons []string
		for _, v := range e.Violations[:min(n, mostReasons)] {
			reasons = append(reasons, v.Reason)
		}
		attrs = append(attrs, slog.Int("violations", n), slog.Any("reasons", reasons))
	}
	if e.Transport != rpc.NoFault {
		attrs = append(attrs, slog.String("fault", string(e.Transport)))
	}
	return attrs
}

// panicked turns a handler's panic into the error that its caller gets, which
// tells nothing of it. The log has the rest.
func (o *Observer) panicked(ctx context.Context, m *rpc.Method, p any) error {
	o.panics.Inc()
	text := fmt.Sprint(p)
	if len(text) > longestCause {
		text = strings.ToValidUTF8(text[:longestCause], "") + "…"
	}
	o.log.LogAttrs(ctx, slog.LevelError, "handler panicked",
		slog.String("service", m.Service), slog.String("method", m.Name),
		slog.String("panic", text), slog.String("stack", string(debug.Stack())))
	return rpc.Errorf(rpc.Internal, "the handler panicked")
}
