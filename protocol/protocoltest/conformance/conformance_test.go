package conformance_test

import (
	"encoding/json"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

func TestMappingIsTheIdentity(t *testing.T) {
	for _, e := range conformance.Examples() {
		t.Run(e.Name, func(t *testing.T) {
			in := &conformance.EchoRequest{Item: e.Item, FailCode: 3, FailMessage: "m", Hang: true}
			out := conformance.Echo.In.FromProto(conformance.Echo.In.ToProto(in))
			if diff := conformance.Diff(in, out); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMappingOfQueriesIsTheIdentity(t *testing.T) {
	for _, in := range conformance.Asked() {
		out := conformance.Find.In.FromProto(conformance.Find.In.ToProto(in))
		if diff := conformance.Diff(in, out); diff != "" {
			t.Errorf("%s: %s", in.Name, diff)
		}
		plain, err := json.Marshal(in)
		if err != nil && !math.IsNaN(in.Ratio) && !math.IsInf(in.Ratio, 0) {
			t.Errorf("%s: %v", in.Name, err)
		}
		message := conformance.Find.In.NewProto()
		if err != nil {
			continue
		}
		if err := protojson.Unmarshal(plain, message); err != nil {
			t.Fatalf("protojson refuses %.200s: %v", plain, err)
		}
		if diff := conformance.Diff(in, conformance.Find.In.FromProto(message)); diff != "" {
			t.Errorf("protojson reads another value: %s", diff)
		}
	}
}

func TestPlainJSONIsProtoJSON(t *testing.T) {
	for _, e := range conformance.Examples() {
		if e.NotJSON {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			in := &conformance.EchoRequest{Item: e.Item, FailCode: 3, FailMessage: "m", Hang: true}

			plain, err := json.Marshal(in)
			if err != nil {
				t.Fatal(err)
			}
			message := conformance.Echo.In.NewProto()
			if err := protojson.Unmarshal(plain, message); err != nil {
				t.Fatalf("protojson refuses %.200s: %v", plain, err)
			}
			if diff := conformance.Diff(in, conformance.Echo.In.FromProto(message)); diff != "" {
				t.Errorf("protojson reads another value: %s", diff)
			}

			generated, err := protojson.Marshal(conformance.Echo.In.ToProto(in))
			if err != nil {
				t.Fatal(err)
			}
			out := conformance.Echo.In.New()
			if err := json.Unmarshal(generated, out); err != nil {
				t.Fatalf("encoding/json refuses %.200s: %v", generated, err)
			}
			if diff := conformance.Diff(in, out); diff != "" {
				t.Errorf("encoding/json reads another value: %s", diff)
			}
		})
	}
}

func TestDiffTellsWhatEqualsHides(t *testing.T) {
	zero := int32(0)
	tests := []struct {
		name string
		a, b *conformance.Item
		same bool
	}{
		{"absent and empty", nil, &conformance.Item{}, false},
		{"zero and negative zero", &conformance.Item{Ratio: 0}, &conformance.Item{Ratio: math.Copysign(0, -1)}, false},
		{"optional absent and zero", &conformance.Item{}, &conformance.Item{Maybe: &zero}, false},
		{"not a number twice", &conformance.Item{Ratio: math.NaN()}, &conformance.Item{Ratio: math.NaN()}, true},
		{"no list and an empty one", &conformance.Item{}, &conformance.Item{Tags: []string{}}, true},
	}
	for _, test := range tests {
		if got := conformance.Diff(test.a, test.b) == ""; got != test.same {
			t.Errorf("%s: same is %v", test.name, got)
		}
	}
}
