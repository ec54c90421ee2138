package protocol

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/tare-bench/tare/rpc"
)

// Bounds of what a failure says beside its message. gRPC carries it in a field
// of a trailer, and some of its implementations take no more than 8 KiB of
// these; there it is a third longer, and the message stands beside it.
const (
	longestText     = 512 // of a violation's field, description or reason, in bytes
	longestDetails  = 3 << 10
	violationsFrame = 16 // bytes around each, whatever the form
)

// Details gives what e says beside code and message as messages of google.rpc,
// and nil where that is nothing.
func Details(e *rpc.Error) []proto.Message {
	if len(e.Violations) == 0 && e.RetryAfter <= 0 {
		return nil
	}
	var all []proto.Message
	if fit := FitViolations(e.Violations); len(fit) > 0 {
		bad := &errdetails.BadRequest{FieldViolations: make([]*errdetails.BadRequest_FieldViolation, len(fit))}
		for i, v := range fit {
			bad.FieldViolations[i] = &errdetails.BadRequest_FieldViolation{Field: v.Field, Description: v.Description, Reason: v.Reason}
		}
		all = append(all, bad)
	}
	if e.RetryAfter > 0 {
		all = append(all, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.RetryAfter)})
	}
	return all
}

// TakeDetail adds to e what a detail says; it ignores one of another type than
// Details gives.
func TakeDetail(e *rpc.Error, detail any) {
	switch d := detail.(type) {
	case *errdetails.BadRequest:
		var all []rpc.Violation
		for _, v := range d.GetFieldViolations() {
			all = append(all, rpc.Violation{Field: v.GetField(), Description: v.GetDescription(), Reason: v.GetReason()})
		}
		e.Violations = FitViolations(append(e.Violations, all...))
	case *errdetails.RetryInfo:
		e.RetryAfter = max(0, d.GetRetryDelay().AsDuration())
	}
}

// FitViolations gives as many of all as may cross, with texts cut to a bound
// and made valid UTF-8. The same cross by every protocol.
func FitViolations(all []rpc.Violation) []rpc.Violation {
	var fit []rpc.Violation
	left := longestDetails
	for _, v := range all {
		v = rpc.Violation{Field: cut(v.Field), Description: cut(v.Description), Reason: cut(v.Reason)}
		left -= len(v.Field) + len(v.Description) + len(v.Reason) + violationsFrame
		if left < 0 {
			break
		}
		fit = append(fit, v)
	}
	return fit
}

// cut gives s as valid UTF-8 of at most longestText bytes.
func cut(s string) string {
	s = s[:min(len(s), 2*longestText)] // however much there is
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= longestText {
		return s
	}
	const ellipsis = "…"
	end := longestText - len(ellipsis)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}
