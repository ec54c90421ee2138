package statements

import (
	"strings"
	"unicode/utf8"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// Bounds of what an answer says of statements that were not kept: with them it
// is no longer than clients of gRPC take, in JSON too.
const (
	mostRejects  = 10_000
	longestTold  = 3 << 20
	rejectFrame  = 96  // bytes around the texts of a reject, and of a violation, in JSON
	longestGiven = 128 // of an ID, in bytes
)

// rejects are the statements that an answer tells of as not kept.
type rejects struct {
	all   []clinical.Reject
	bytes int
	more  bool // there are some beyond the bounds
	first string
}

func (r *rejects) add(index int64, id string, broken *rpc.Error) {
	if r.first == "" {
		r.first = broken.Message
	}
	reject := clinical.Reject{
		Index: index, StatementID: cut(id), Message: broken.Message,
		Violations: make([]clinical.Violation, len(broken.Violations)),
	}
	r.bytes += rejectFrame + inJSON(reject.StatementID) + inJSON(reject.Message)
	for i, v := range broken.Violations {
		reject.Violations[i] = clinical.Violation(v)
		r.bytes += rejectFrame + inJSON(v.Field) + inJSON(v.Description) + inJSON(v.Reason)
	}
	if r.more || len(r.all) == mostRejects || r.bytes > longestTold {
		r.more = true
		return
	}
	r.all = append(r.all, reject)
}

// inJSON is how many bytes a text takes in JSON at most: its callers choose it, and
// may choose what is escaped, such as control characters, to six bytes for one.
func inJSON(text string) (n int) {
	const escaped = 6 // "\u0001"
	for _, c := range text {
		switch {
		case c < ' ', c == utf8.RuneError, c == '\u2028', c == '\u2029', strings.ContainsRune(`"\<>&`+"\x7f", c):
			n += escaped
		default:
			n += utf8.RuneLen(c)
		}
	}
	return n
}

// beyondReason is the end of a call that has brought more statements which break
// a rule than an answer has room for. Those that break none are kept by then.
func (r *rejects) beyondReason(came int64) error {
	if !r.more {
		return nil
	}
	return rpc.Errorf(rpc.InvalidArgument,
		"of the first %d statements more than %d break a rule, too many to tell of in one answer; the first: %s. The others are kept. Mend what makes them, or send fewer with each call",
		came, len(r.all), r.first)
}

// cut gives an ID, which may be anything, as a report has room for it.
func cut(id string) string {
	if len(id) <= longestGiven {
		return id
	}
	const ellipsis = "…"
	end := longestGiven - len(ellipsis)
	for end > 0 && !utf8.RuneStart(id[end]) {
		end--
	}
	return strings.ToValidUTF8(id[:end], "") + ellipsis
}
