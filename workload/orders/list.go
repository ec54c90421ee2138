package orders

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// defaultPage is how many orders a page has where nobody says. How many it may
// have stands in the schema.
const defaultPage = 50

func (s *orderService) list(ctx context.Context, r *ListOrdersRequest) (*ListOrdersResponse, error) {
	before := int64(math.MaxInt64)
	if r.PageToken != "" {
		var ok bool
		if before, ok = parsePageToken(r.PageToken, r.UserName); !ok {
			return nil, badPageToken()
		}
	}
	size := int(r.PageSize)
	if size == 0 {
		size = defaultPage
	}
	kept, err := s.orders.OrdersBefore(ctx, r.UserName, before, size+1) // one more tells whether there is another page
	if err != nil {
		return nil, workload.StoreError("list orders", err)
	}
	out := new(ListOrdersResponse)
	if len(kept) > size {
		kept = kept[:size]
		out.NextPageToken = pageToken(kept[size-1].Number, r.UserName)
	}
	out.Orders = make([]Order, len(kept))
	for i := range kept {
		out.Orders[i] = *keptOrder(kept[i])
	}
	return out, nil
}

// A page token is a version, the number of the page's last order, and a hash of
// what else was asked for, so that a token of another list is told from one of
// this. Callers must not read it: it may change.
const (
	tokenVersion = 1
	tokenBytes   = 1 + 8 + 8
)

func pageToken(number int64, user string) string {
	raw := append(make([]byte, 0, tokenBytes), tokenVersion)
	raw = binary.BigEndian.AppendUint64(raw, uint64(number))
	raw = binary.BigEndian.AppendUint64(raw, filterHash(user))
	return base64.RawURLEncoding.EncodeToString(raw)
}

func parsePageToken(token, user string) (number int64, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != tokenBytes || raw[0] != tokenVersion {
		return 0, false
	}
	number = int64(binary.BigEndian.Uint64(raw[1:]))
	return number, number > 0 && binary.BigEndian.Uint64(raw[9:]) == filterHash(user)
}

func filterHash(user string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(user)) // a hash takes everything
	return h.Sum64()
}

func badPageToken() *rpc.Error {
	v := rpc.Violation{
		Field: "page_token", Description: "must be the next_page_token of a list with the same user_name", Reason: "PAGE_TOKEN",
	}
	return &rpc.Error{Code: rpc.InvalidArgument, Message: v.Field + " " + v.Description, Violations: []rpc.Violation{v}}
}
