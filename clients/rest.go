package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// restOrders calls the routes of the order service with nothing but an HTTP
// client.
type restOrders struct {
	c   *http.Client
	url string
}

func (o restOrders) CreateOrder(ctx context.Context, in *ordersv1.CreateOrderRequest) (*ordersv1.CreateOrderResponse, error) {
	body, err := protojson.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("marshal order: %w", err)
	}
	return asked(ctx, o, http.MethodPost, "/v1/orders", body, new(ordersv1.CreateOrderResponse))
}

func (o restOrders) GetOrder(ctx context.Context, in *ordersv1.GetOrderRequest) (*ordersv1.GetOrderResponse, error) {
	return asked(ctx, o, http.MethodGet, "/v1/orders/"+url.PathEscape(in.OrderId), nil, new(ordersv1.GetOrderResponse))
}

func (o restOrders) ListOrders(ctx context.Context, in *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	query := url.Values{}
	if in.PageSize != 0 {
		query.Set("pageSize", strconv.Itoa(int(in.PageSize)))
	}
	if in.PageToken != "" {
		query.Set("pageToken", in.PageToken)
	}
	if in.UserName != "" {
		query.Set("userName", in.UserName)
	}
	return asked(ctx, o, http.MethodGet, "/v1/orders?"+query.Encode(), nil, new(ordersv1.ListOrdersResponse))
}

func (o restOrders) WatchOrders(ctx context.Context, in *ordersv1.WatchOrdersRequest) iter.Seq2[*ordersv1.WatchOrdersResponse, error] {
	query := url.Values{}
	if in.AfterRevision != nil {
		query.Set("afterRevision", strconv.FormatInt(*in.AfterRevision, 10))
	}
	if in.UserName != "" {
		query.Set("userName", in.UserName)
	}
	return func(yield func(*ordersv1.WatchOrdersResponse, error) bool) {
		answer, err := o.send(ctx, http.MethodGet, "/v1/orders:watch?"+query.Encode(), nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer hangUp(answer)
		for lines := json.NewDecoder(answer.Body); ; {
			change, err := nextChange(ctx, lines)
			if !yield(change, err) || err != nil {
				return
			}
		}
	}
}

// nextChange reads a line of a stream: a reply, or the problem that ended it.
func nextChange(ctx context.Context, lines *json.Decoder) (*ordersv1.WatchOrdersResponse, error) {
	var line struct{ Result, Error json.RawMessage }
	switch err := lines.Decode(&line); {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, away(ctx, err)
	case line.Error != nil:
		return nil, problem(http.StatusOK, line.Error)
	}
	change := new(ordersv1.WatchOrdersResponse)
	if err := protojson.Unmarshal(line.Result, change); err != nil {
		return nil, fmt.Errorf("read change: %w", err)
	}
	return change, nil
}

// asked makes one call and reads its answer into out.
func asked[M proto.Message](ctx context.Context, o restOrders, method, path string, body []byte, out M) (M, error) {
	var none M
	answer, err := o.send(ctx, method, path, body)
	if err != nil {
		return none, err
	}
	defer hangUp(answer)
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return none, away(ctx, err)
	}
	if err := protojson.Unmarshal(text, out); err != nil {
		return none, fmt.Errorf("read answer of %s %s: %w", method, path, err)
	}
	return out, nil
}

// send sends one request, whose answer is a success.
func (o restOrders) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, o.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := o.c.Do(r)
	if err != nil {
		return nil, away(ctx, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer hangUp(answer)
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, away(ctx, err)
	}
	return nil, problem(answer.StatusCode, text)
}

// hangUp is done with an answer, read to its end or not.
func hangUp(answer *http.Response) { _ = answer.Body.Close() }

// problem reads problem details, RFC 9457, with the code that the service adds.
func problem(httpStatus int, text []byte) error {
	var p struct {
		Code   json.RawMessage `json:"code"`
		Detail string          `json:"detail"`
	}
	var code codes.Code
	err := json.Unmarshal(text, &p)
	if err == nil {
		err = code.UnmarshalJSON(p.Code)
	}
	if err != nil || code == codes.OK {
		return status.Errorf(codes.Unknown, "HTTP status %d: %s", httpStatus, text)
	}
	return status.Error(code, p.Detail)
}

// away gives the error of a call without an answer as a status.
func away(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	case ctx.Err() != nil:
		return status.Error(codes.Canceled, err.Error())
	}
	return status.Error(codes.Unavailable, err.Error())
}
