package orders

import (
	"context"
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
		if before, ok = workload.PageNumber(r.PageToken, r.UserName); !ok {
			return nil, workload.Invalid(badPageToken)
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
		out.NextPageToken = workload.PageToken(kept[size-1].Number, r.UserName)
	}
	out.Orders = make([]Order, len(kept))
	for i := range kept {
		out.Orders[i] = *keptOrder(kept[i])
	}
	return out, nil
}

var badPageToken = rpc.Violation{
	Field: "page_token", Description: "must be the next_page_token of a list with the same user_name", Reason: "PAGE_TOKEN",
}
