package conformance

import pb "github.com/tare-bench/tare/gen/tare/conformance/v1"

func itemToProto(i *Item) *pb.Item {
	if i == nil {
		return nil
	}
	m := &pb.Item{
		Text:   i.Text,
		Number: i.Number,
		Ratio:  i.Ratio,
		Blob:   i.Blob,
		Mood:   pb.Mood(i.Mood),
		Tags:   i.Tags,
		Child:  itemToProto(i.Child),
		Maybe:  i.Maybe,
	}
	if len(i.Counts) > 0 {
		m.Counts = make(map[string]int64, len(i.Counts))
		for k, n := range i.Counts {
			m.Counts[k] = int64(n)
		}
	}
	return m
}

func itemFromProto(m *pb.Item) *Item {
	if m == nil {
		return nil
	}
	i := &Item{
		Text:   m.Text,
		Number: m.Number,
		Ratio:  m.Ratio,
		Blob:   m.Blob,
		Mood:   Mood(m.Mood),
		Tags:   m.Tags,
		Child:  itemFromProto(m.Child),
		Maybe:  m.Maybe,
	}
	if len(m.Counts) > 0 {
		i.Counts = make(map[string]Int64, len(m.Counts))
		for k, n := range m.Counts {
			i.Counts[k] = Int64(n)
		}
	}
	return i
}

func echoRequestToProto(r *EchoRequest) *pb.EchoRequest {
	return &pb.EchoRequest{Item: itemToProto(r.Item), FailCode: r.FailCode, FailMessage: r.FailMessage, Hang: r.Hang}
}

func echoRequestFromProto(m *pb.EchoRequest) *EchoRequest {
	return &EchoRequest{Item: itemFromProto(m.Item), FailCode: m.FailCode, FailMessage: m.FailMessage, Hang: m.Hang}
}

func echoResponseToProto(r *EchoResponse) *pb.EchoResponse {
	return &pb.EchoResponse{Item: itemToProto(r.Item)}
}

func echoResponseFromProto(m *pb.EchoResponse) *EchoResponse {
	return &EchoResponse{Item: itemFromProto(m.Item)}
}

func expandRequestToProto(r *ExpandRequest) *pb.ExpandRequest {
	return &pb.ExpandRequest{Item: itemToProto(r.Item), Count: r.Count, FailCode: r.FailCode}
}

func expandRequestFromProto(m *pb.ExpandRequest) *ExpandRequest {
	return &ExpandRequest{Item: itemFromProto(m.Item), Count: m.Count, FailCode: m.FailCode}
}

func expandResponseToProto(r *ExpandResponse) *pb.ExpandResponse {
	return &pb.ExpandResponse{Item: itemToProto(r.Item)}
}

func expandResponseFromProto(m *pb.ExpandResponse) *ExpandResponse {
	return &ExpandResponse{Item: itemFromProto(m.Item)}
}

func collectRequestToProto(r *CollectRequest) *pb.CollectRequest {
	return &pb.CollectRequest{Item: itemToProto(r.Item)}
}

func collectRequestFromProto(m *pb.CollectRequest) *CollectRequest {
	return &CollectRequest{Item: itemFromProto(m.Item)}
}

func collectResponseToProto(r *CollectResponse) *pb.CollectResponse {
	return &pb.CollectResponse{Count: r.Count, Last: itemToProto(r.Last)}
}

func collectResponseFromProto(m *pb.CollectResponse) *CollectResponse {
	return &CollectResponse{Count: m.Count, Last: itemFromProto(m.Last)}
}

func converseRequestToProto(r *ConverseRequest) *pb.ConverseRequest {
	return &pb.ConverseRequest{Item: itemToProto(r.Item)}
}

func converseRequestFromProto(m *pb.ConverseRequest) *ConverseRequest {
	return &ConverseRequest{Item: itemFromProto(m.Item)}
}

func converseResponseToProto(r *ConverseResponse) *pb.ConverseResponse {
	return &pb.ConverseResponse{Item: itemToProto(r.Item)}
}

func converseResponseFromProto(m *pb.ConverseResponse) *ConverseResponse {
	return &ConverseResponse{Item: itemFromProto(m.Item)}
}
