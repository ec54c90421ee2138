package conformance

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	pb "github.com/tare-bench/tare/gen/tare/conformance/v1"

	"github.com/tare-bench/tare/rpc"
)

// The methods whose requests, where they are routes, are more than a body.
var (
	// Find answers with what it was asked for, in path and query.
	Find = &rpc.Method{
		Service: name, Name: "Find", Kind: rpc.Unary, Route: "GET /v1/items/{name}/levels/{level}",
		In:  rpc.NewType(findRequestToProto, findRequestFromProto),
		Out: rpc.NewType(findResponseToProto, findResponseFromProto),
	}
	// Amend answers with what it was sent, in path and body.
	Amend = &rpc.Method{
		Service: name, Name: "Amend", Kind: rpc.Unary, Route: "PUT /v1/items/{name}",
		In:  rpc.NewType(amendRequestToProto, amendRequestFromProto),
		Out: rpc.NewType(amendResponseToProto, amendResponseFromProto),
	}
	// Follow answers with so many numbers, in their order.
	Follow = &rpc.Method{
		Service: name, Name: "Follow", Kind: rpc.ServerStream, Route: "GET /v1/items:follow",
		In:  rpc.NewType(followRequestToProto, followRequestFromProto),
		Out: rpc.NewType(followResponseToProto, followResponseFromProto),
	}
)

// FindRequest has each shape of field that a path or a query can hold.
type FindRequest struct {
	Name      string     `json:"name,omitempty"` // in the path
	Level     int32      `json:"level,omitempty"`
	PageSize  int64      `json:"pageSize,omitempty,string"`
	Ratio     float64    `json:"ratio"` // omitempty would drop negative zero
	Exact     bool       `json:"exact,omitempty"`
	Token     []byte     `json:"token,omitempty"`
	Mood      Mood       `json:"mood,omitempty"`
	Tags      []string   `json:"tags,omitempty"`
	Moods     []Mood     `json:"moods,omitempty"`
	Maybe     *int32     `json:"maybe,omitempty"` // absent is not zero
	Range     *Range     `json:"range,omitempty"`
	SinceTime *time.Time `json:"sinceTime,omitempty"`
	Open      *bool      `json:"open,omitempty"`
}

// Range is a nested message.
type Range struct {
	From int64  `json:"from,omitempty,string"`
	To   *int64 `json:"to,omitempty,string"`
}

// FindResponse says what was asked for.
type FindResponse struct {
	Found *FindRequest `json:"found,omitempty"`
}

// AmendRequest has its name in the path, and the rest in the body.
type AmendRequest struct {
	Name string `json:"name,omitempty"`
	Item *Item  `json:"item,omitempty"`
}

// AmendResponse brings the request back.
type AmendResponse struct {
	Name string `json:"name,omitempty"`
	Item *Item  `json:"item,omitempty"`
}

// FollowRequest asks for numbers.
type FollowRequest struct {
	Count int32  `json:"count,omitempty"`
	After *int64 `json:"after,omitempty,string"` // absent: they begin at 1
}

// FollowResponse is one number.
type FollowResponse struct {
	Number int64 `json:"number,omitempty,string"`
}

func find(s rpc.Stream) error {
	in, err := receive[*FindRequest](s)
	if err != nil {
		return err
	}
	return s.Send(&FindResponse{Found: in})
}

func amend(s rpc.Stream) error {
	in, err := receive[*AmendRequest](s)
	if err != nil {
		return err
	}
	return s.Send(&AmendResponse{Name: in.Name, Item: in.Item})
}

func follow(s rpc.Stream) error {
	in, err := receive[*FollowRequest](s)
	if err != nil {
		return err
	}
	var n int64
	if in.After != nil {
		n = *in.After
	}
	for range in.Count {
		n++
		if err := s.Send(&FollowResponse{Number: n}); err != nil {
			return err
		}
	}
	return nil
}

func findRequestToProto(r *FindRequest) *pb.FindRequest {
	if r == nil {
		return nil
	}
	m := &pb.FindRequest{
		Name: r.Name, Level: r.Level, PageSize: r.PageSize, Ratio: r.Ratio, Exact: r.Exact,
		Token: r.Token, Mood: pb.Mood(r.Mood), Tags: r.Tags, Maybe: r.Maybe,
	}
	for _, mood := range r.Moods {
		m.Moods = append(m.Moods, pb.Mood(mood))
	}
	if r.Range != nil {
		m.Range = &pb.Range{From: r.Range.From, To: r.Range.To}
	}
	if r.SinceTime != nil {
		m.SinceTime = timestamppb.New(*r.SinceTime)
	}
	if r.Open != nil {
		m.Open = wrapperspb.Bool(*r.Open)
	}
	return m
}

func findRequestFromProto(m *pb.FindRequest) *FindRequest {
	if m == nil {
		return nil
	}
	r := &FindRequest{
		Name: m.Name, Level: m.Level, PageSize: m.PageSize, Ratio: m.Ratio, Exact: m.Exact,
		Token: m.Token, Mood: Mood(m.Mood), Tags: m.Tags, Maybe: m.Maybe,
	}
	for _, mood := range m.Moods {
		r.Moods = append(r.Moods, Mood(mood))
	}
	if m.Range != nil {
		r.Range = &Range{From: m.Range.From, To: m.Range.To}
	}
	if m.SinceTime != nil {
		at := m.SinceTime.AsTime()
		r.SinceTime = &at
	}
	if m.Open != nil {
		r.Open = &m.Open.Value
	}
	return r
}

func findResponseToProto(r *FindResponse) *pb.FindResponse {
	return &pb.FindResponse{Found: findRequestToProto(r.Found)}
}

func findResponseFromProto(m *pb.FindResponse) *FindResponse {
	return &FindResponse{Found: findRequestFromProto(m.Found)}
}

func amendRequestToProto(r *AmendRequest) *pb.AmendRequest {
	return &pb.AmendRequest{Name: r.Name, Item: itemToProto(r.Item)}
}

func amendRequestFromProto(m *pb.AmendRequest) *AmendRequest {
	return &AmendRequest{Name: m.Name, Item: itemFromProto(m.Item)}
}

func amendResponseToProto(r *AmendResponse) *pb.AmendResponse {
	return &pb.AmendResponse{Name: r.Name, Item: itemToProto(r.Item)}
}

func amendResponseFromProto(m *pb.AmendResponse) *AmendResponse {
	return &AmendResponse{Name: m.Name, Item: itemFromProto(m.Item)}
}

func followRequestToProto(r *FollowRequest) *pb.FollowRequest {
	return &pb.FollowRequest{Count: r.Count, After: r.After}
}

func followRequestFromProto(m *pb.FollowRequest) *FollowRequest {
	return &FollowRequest{Count: m.Count, After: m.After}
}

func followResponseToProto(r *FollowResponse) *pb.FollowResponse {
	return &pb.FollowResponse{Number: r.Number}
}

func followResponseFromProto(m *pb.FollowResponse) *FollowResponse {
	return &FollowResponse{Number: m.Number}
}
