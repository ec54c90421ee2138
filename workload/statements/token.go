package statements

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"

	"github.com/tare-bench/tare/rpc"
)

// A token is a version, the number of the last record that was given, and a hash
// of what else was asked for, so that a token of another list is told from one of
// this. Callers must not read it: it may change.
const (
	tokenVersion = 1
	tokenBytes   = 1 + 8 + 8
)

func pageToken(number int64, filter string) string {
	raw := append(make([]byte, 0, tokenBytes), tokenVersion)
	raw = binary.BigEndian.AppendUint64(raw, uint64(number)) //nolint:gosec // above 0
	raw = binary.BigEndian.AppendUint64(raw, filterHash(filter))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// numberOf gives the number that a token holds, 0 where there is none; one that
// is not of a list with this filter is a violation.
func numberOf(token, filter string, bad rpc.Violation) (int64, error) {
	if token == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != tokenBytes || raw[0] != tokenVersion {
		return 0, invalid(bad)
	}
	number := int64(binary.BigEndian.Uint64(raw[1:])) //nolint:gosec // looked at below
	if number <= 0 || binary.BigEndian.Uint64(raw[9:]) != filterHash(filter) {
		return 0, invalid(bad)
	}
	return number, nil
}

func filterHash(filter string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(filter)) // a hash takes everything
	return h.Sum64()
}

// What is wrong with tokens.
var (
	badStatementPage = rpc.Violation{
		Field: "page_token", Description: "must be the next_page_token of a list with the same subject", Reason: "PAGE_TOKEN",
	}
	badVisitPage = rpc.Violation{
		Field: "page_token", Description: "must be the next_page_token of a list with the same patient_id", Reason: "PAGE_TOKEN",
	}
	badResume = rpc.Violation{
		Field: "resume_token", Description: "must be the resume_token of an export with the same subject", Reason: "RESUME_TOKEN",
	}
)

// invalid is a request that breaks a rule which is not the schema's.
func invalid(v rpc.Violation) *rpc.Error {
	return &rpc.Error{Code: rpc.InvalidArgument, Message: v.Field + " " + v.Description, Violations: []rpc.Violation{v}}
}
