package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// message generates one whose fields mostly keep the rules.
func message(d protoreflect.MessageDescriptor) *rapid.Generator[proto.Message] {
	return rapid.Custom(func(t *rapid.T) proto.Message {
		m := dynamicpb.NewMessage(d)
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			switch {
			case seldom(t, "absent"):
			case f.IsList():
				list := m.Mutable(f).List()
				for range rapid.IntRange(0, 3).Draw(t, "length") {
					list.Append(value(t, f))
				}
			default:
				m.Set(f, value(t, f))
			}
		}
		return m
	})
}

func seldom(t *rapid.T, what string) bool { return rapid.IntRange(0, 29).Draw(t, what) == 29 }

// usual are values that keep the rules of some field.
var usual = map[protoreflect.Name][]string{"order_id": {"a-1", "0.x:y_z"}, "currency_code": {"EUR", "USD"}}

func value(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	odd := seldom(t, "odd")
	switch f.Kind() {
	case protoreflect.MessageKind:
		return protoreflect.ValueOfMessage(message(f.Message()).Draw(t, "message").ProtoReflect())
	case protoreflect.StringKind:
		pool := usual[f.Name()]
		if pool == nil {
			pool = []string{"a", "Zoë", "日本語", " ", strings.Repeat("é", 64)}
		}
		if odd {
			pool = []string{"", "eur", "-a", "a\x00", strings.Repeat("é", 65), strings.Repeat("a", 2000)}
		}
		return protoreflect.ValueOfString(rapid.SampledFrom(pool).Draw(t, "text"))
	case protoreflect.Int32Kind:
		pool := []int32{1, 1000, 1_000_000}
		if odd {
			pool = []int32{0, -1, 1_000_001}
		}
		return protoreflect.ValueOfInt32(rapid.SampledFrom(pool).Draw(t, "number"))
	case protoreflect.Int64Kind:
		pool := []int64{1, 1_000_000_000, 0}
		if odd {
			pool = []int64{-1, 1_000_000_001}
		}
		return protoreflect.ValueOfInt64(rapid.SampledFrom(pool).Draw(t, "number"))
	}
	panic(f.Kind())
}

// TestNoMessageThatKeepsTheRulesIsRefusedByTheDocument holds that clients that
// check their requests by the document can send whatever the service takes.
func TestNoMessageThatKeepsTheRulesIsRefusedByTheDocument(t *testing.T) {
	schema := document(t, shop()...).Components.Schemas["tare.orders.v1.CreateOrderRequest"].Value
	d := (&ordersv1.CreateOrderRequest{}).ProtoReflect().Descriptor()
	kept, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := message(d).Draw(t, "order")
		text, err := protojson.Marshal(m)
		if err != nil {
			t.Skip(err) // text that is not UTF-8
		}
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		byRules, byDocument := protovalidate.Validate(m), schema.VisitJSON(plain)
		if byRules == nil && byDocument != nil {
			t.Fatalf("the document refuses %s: %v", text, byDocument)
		}
		if byRules == nil {
			kept++
		}
		if byDocument != nil {
			refused++
		}
	})
	if kept < 10 || refused < 10 {
		t.Errorf("%d kept the rules, %d were refused by the document: too few to tell", kept, refused)
	}
}

// TestDocumentKnowsRules holds each rule that JSON Schema has a keyword for.
func TestDocumentKnowsRules(t *testing.T) {
	schema := document(t, shop()...).Components.Schemas["tare.orders.v1.CreateOrderRequest"].Value
	const good = `{"orderId":"o-1","userName":"Zoë","currencyCode":"EUR","lines":[{"sku":"s","title":"t","quantity":1,"unitPriceMinor":"1"}]}`
	check := func(text string) error {
		var plain any
		if err := json.Unmarshal([]byte(text), &plain); err != nil {
			t.Fatal(err)
		}
		return schema.VisitJSON(plain)
	}
	if err := check(good); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"orderId":"o-1",`, ``}, {`"o-1"`, `"-o"`}, {`"Zoë"`, `""`}, {`"userName":"Zoë",`, ``}, {`"EUR"`, `"EURO"`},
		{`,"lines":[{"sku":"s","title":"t","quantity":1,"unitPriceMinor":"1"}]`, ``}, {`[{"sku":"s","title":"t","quantity":1,"unitPriceMinor":"1"}]`, `[]`},
		{`"quantity":1`, `"quantity":0`}, {`"quantity":1,`, ``}, {`"quantity":1`, `"quantity":1000001`}, {`"quantity":1`, `"quantity":1.5`},
		{`"unitPriceMinor":"1"`, `"unitPriceMinor":"-1"`}, {`"unitPriceMinor":"1"`, `"unitPriceMinor":1`}, {`"sku":"s",`, ``},
	} {
		if text := strings.Replace(good, change[0], change[1], 1); text == good || check(text) == nil {
			t.Errorf("with %s for %s the document finds nothing wrong", change[1], change[0])
		}
	}
}
