package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	pb "github.com/tare-bench/tare/gen/tare/conformance/v1"
)

// Item has each shape of field that codecs get wrong. Its JSON is ProtoJSON's,
// so that a reflective codec and a generated one agree on the wire.
type Item struct {
	Text   string           `json:"text,omitempty"`
	Number int64            `json:"number,omitempty,string"`
	Ratio  float64          `json:"ratio"` // omitempty would drop negative zero
	Blob   []byte           `json:"blob,omitempty"`
	Mood   Mood             `json:"mood,omitempty"`
	Tags   []string         `json:"tags,omitempty"`
	Child  *Item            `json:"child,omitempty"`
	Maybe  *int32           `json:"maybe,omitempty"` // absent is not zero
	Counts map[string]Int64 `json:"counts,omitempty"`
}

// EchoRequest asks for its item back, or for an error.
type EchoRequest struct {
	Item        *Item  `json:"item,omitempty"`
	FailCode    int32  `json:"failCode,omitempty"` // of rpc.Code; 0 to succeed
	FailMessage string `json:"failMessage,omitempty"`
	Hang        bool   `json:"hang,omitempty"` // wait until the caller gives up
}

// EchoResponse brings the item back.
type EchoResponse struct {
	Item *Item `json:"item,omitempty"`
}

// ExpandRequest asks for copies of its item, and for an error after the last.
type ExpandRequest struct {
	Item     *Item `json:"item,omitempty"`
	Count    int32 `json:"count,omitempty"`
	FailCode int32 `json:"failCode,omitempty"`
}

// ExpandResponse is one copy.
type ExpandResponse struct {
	Item *Item `json:"item,omitempty"`
}

// CollectRequest brings one item.
type CollectRequest struct {
	Item *Item `json:"item,omitempty"`
}

// CollectResponse says how many items came, and which was the last.
type CollectResponse struct {
	Count int32 `json:"count,omitempty"`
	Last  *Item `json:"last,omitempty"`
}

// ConverseRequest brings one item.
type ConverseRequest struct {
	Item *Item `json:"item,omitempty"`
}

// ConverseResponse answers one item.
type ConverseResponse struct {
	Item *Item `json:"item,omitempty"`
}

// Int64 is an int64 where struct tags do not reach, in a map: ProtoJSON writes
// it as a string.
type Int64 int64

// MarshalText writes the number in base 10.
func (n Int64) MarshalText() ([]byte, error) { return strconv.AppendInt(nil, int64(n), 10), nil }

// UnmarshalText reads a number in base 10.
func (n *Int64) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 64)
	*n = Int64(v)
	return err
}

// Mood is an enum. In JSON it is its name, or its number where it has none.
type Mood int32

// MarshalJSON writes the name, or the number of a mood without one.
func (m Mood) MarshalJSON() ([]byte, error) {
	if name, ok := pb.Mood_name[int32(m)]; ok {
		return strconv.AppendQuote(nil, name), nil
	}
	return strconv.AppendInt(nil, int64(m), 10), nil
}

// UnmarshalJSON reads a name or a number; an unknown name is an error.
func (m *Mood) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(text, []byte(`"`)) {
		return json.Unmarshal(text, (*int32)(m))
	}
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return err
	}
	number, ok := pb.Mood_value[name]
	if !ok {
		return fmt.Errorf("no mood %q", name)
	}
	*m = Mood(number)
	return nil
}
