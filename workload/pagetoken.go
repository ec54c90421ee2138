package workload

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
)

// A token is a version, the number of the last record that was given, and a hash
// of what else was asked for, so that a token of another list is told from one of
// this. Callers must not read it: it may change.
const (
	tokenVersion = 1
	tokenBytes   = 1 + 8 + 8
)

// PageToken asks for what stands behind a record of a list, by the record's number,
// which is above 0. The list is known by what it is of: whose records they are, and
// of which kind where several kinds are listed by equal words.
func PageToken(number int64, of ...string) string {
	raw := append(make([]byte, 0, tokenBytes), tokenVersion)
	raw = binary.BigEndian.AppendUint64(raw, uint64(number)) //nolint:gosec // above 0
	raw = binary.BigEndian.AppendUint64(raw, listHash(of))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// PageNumber gives the number in a token of the same list, and says no to what is
// none.
func PageNumber(token string, of ...string) (number int64, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != tokenBytes || raw[0] != tokenVersion {
		return 0, false
	}
	number = int64(binary.BigEndian.Uint64(raw[1:])) //nolint:gosec // looked at below
	return number, number > 0 && binary.BigEndian.Uint64(raw[9:]) == listHash(of)
}

func listHash(of []string) uint64 {
	h := fnv.New64a()
	for i, word := range of {
		if i > 0 {
			_, _ = h.Write([]byte{0}) // a hash takes everything; words hold no NUL
		}
		_, _ = h.Write([]byte(word))
	}
	return h.Sum64()
}
