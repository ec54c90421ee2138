package protocol

import (
	"regexp"
	"strconv"

	"github.com/tare-bench/tare/rpc"
)

// TooLong is the failure of a call with a message longer than limit, which is as
// many bytes as one side takes or gives. It reads the same by every protocol.
func TooLong(limit int) *rpc.Error {
	return rpc.Errorf(rpc.ResourceExhausted,
		"message is longer than the limit of %d bytes: send or ask for less at a time, call a method that streams, or raise the limit (--max-message)", limit)
}

// TooLongAs is TooLong where e is how a library tells of it: with a message that
// said matches, whose first group is the limit. Any other e is given as it is.
func TooLongAs(e *rpc.Error, said *regexp.Regexp) *rpc.Error {
	if e.Code != rpc.ResourceExhausted {
		return e
	}
	m := said.FindStringSubmatch(e.Message)
	if m == nil {
		return e
	}
	limit, err := strconv.Atoi(m[1])
	if err != nil {
		return e
	}
	return TooLong(limit)
}
