package openapi

import (
	"fmt"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// rules are a field's, as the schema declares them. What JSON Schema has a
// keyword for becomes one, the rest words.
type rules struct{ field *validate.FieldRules }

// rulesOf gives no rules for a field whose zero value they spare: JSON Schema
// could say that of none.
func rulesOf(f protoreflect.FieldDescriptor) rules {
	field, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	if field.GetIgnore() != validate.Ignore_IGNORE_UNSPECIFIED {
		return rules{}
	}
	return rules{field}
}

// rule gives one rule of those for the field's kind, by its name in the schema
// of rules: kinds share names.
func (r rules) rule(name protoreflect.Name) (v protoreflect.Value, ok bool) {
	if r.field == nil {
		return v, false
	}
	field := r.field.ProtoReflect()
	kind := field.WhichOneof(field.Descriptor().Oneofs().ByName("type"))
	if kind == nil {
		return v, false
	}
	all := field.Get(kind).Message()
	d := all.Descriptor().Fields().ByName(name)
	if d == nil || !all.Has(d) {
		return v, false
	}
	return all.Get(d), true
}

// each gives the rules for what a list or map holds.
func (r rules) each(name protoreflect.Name) rules {
	v, ok := r.rule(name)
	if !ok {
		return rules{}
	}
	field, _ := v.Message().Interface().(*validate.FieldRules)
	return rules{field}
}

func (r rules) count(name protoreflect.Name) (uint64, bool) {
	v, ok := r.rule(name)
	if !ok {
		return 0, false
	}
	return v.Uint(), true
}

func (r rules) words() (all []string) {
	if r.field == nil {
		return nil
	}
	all = append(r.textWords(), r.digitWords()...)
	for _, c := range r.field.GetCel() {
		if c.GetMessage() != "" {
			all = append(all, asSentence(c.GetMessage()))
		}
	}
	return all
}

func (r rules) textWords() (all []string) {
	for _, bound := range []struct {
		rule protoreflect.Name
		text string
	}{{"len_bytes", "Just %d bytes"}, {"min_bytes", "At least %d bytes"}, {"max_bytes", "At most %d bytes"}} {
		if n, ok := r.count(bound.rule); ok {
			all = append(all, fmt.Sprintf(bound.text+" in UTF-8.", n))
		}
	}
	for _, part := range []struct {
		rule protoreflect.Name
		text string
	}{{"prefix", "Begins with"}, {"suffix", "Ends with"}, {"contains", "Holds"}, {"not_contains", "Does not hold"}} {
		if v, ok := r.rule(part.rule); ok && v.IsValid() {
			all = append(all, part.text+" "+spelled(v.String())+".")
		}
	}
	return all
}

// spelled names the characters of a text that one cannot see.
func spelled(text string) string {
	if len(text) == 1 && text[0] < ' ' {
		return fmt.Sprintf("the character U+%04X", text[0])
	}
	return "`" + text + "`"
}

// asSentence makes one of what a rule says of a value.
func asSentence(text string) string {
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

func (r rules) boundText(s *openapi3.Schema) {
	if n, ok := r.count("min_len"); ok {
		s.MinLength = n
	}
	if n, ok := r.count("max_len"); ok {
		s.MaxLength = &n
	}
	if n, ok := r.count("len"); ok {
		s.MinLength, s.MaxLength = n, &n
	}
	if n, ok := r.count("min_bytes"); ok && n > 0 {
		s.MinLength = max(s.MinLength, 1) // so much is sure of characters
	}
	if v, ok := r.rule("pattern"); ok {
		s.Pattern = v.String()
	}
	for rule, format := range map[protoreflect.Name]string{
		"email": "email", "hostname": "hostname", "ipv4": "ipv4", "ipv6": "ipv6", "uri": "uri", "uri_ref": "uri-reference", "uuid": "uuid",
	} {
		if v, ok := r.rule(rule); ok && v.Bool() {
			s.Format = format
		}
	}
	s.Enum = r.allowed(protoreflect.Value.Interface)
}

// allowed are the values that a field may have, nil where they are too many to
// name.
func (r rules) allowed(as func(protoreflect.Value) any) (all []any) {
	if v, ok := r.rule("const"); ok {
		return []any{as(v)}
	}
	if v, ok := r.rule("in"); ok {
		for i := range v.List().Len() {
			all = append(all, as(v.List().Get(i)))
		}
	}
	return all
}

func (r rules) boundNumber(s *openapi3.Schema) {
	low, above, high, below := r.bounds()
	if low != nil {
		s.WithMin(asFloat(*low))
	}
	if above {
		s.WithExclusiveMin(true)
	}
	if high != nil {
		s.WithMax(asFloat(*high))
	}
	if below {
		s.WithExclusiveMax(true)
	}
	s.Enum = r.allowed(func(v protoreflect.Value) any { return asFloat(v) })
}

// bounds gives those of a number, and whether it must lie beyond them. A range
// that is turned round, which allows what is outside, has none.
func (r rules) bounds() (low *protoreflect.Value, above bool, high *protoreflect.Value, below bool) {
	find := func(inside, outside protoreflect.Name) (*protoreflect.Value, bool) {
		if v, ok := r.rule(inside); ok {
			return &v, false
		}
		if v, ok := r.rule(outside); ok {
			return &v, true
		}
		return nil, false
	}
	low, above = find("gte", "gt")
	high, below = find("lte", "lt")
	if low != nil && high != nil && (!isNumber(*low) || !isNumber(*high) || asFloat(*low) > asFloat(*high)) {
		return nil, false, nil, false
	}
	return low, above, high, below
}

func isNumber(v protoreflect.Value) bool {
	switch v.Interface().(type) {
	case int32, int64, uint32, uint64, float32, float64:
		return true
	}
	return false // a Timestamp or Duration
}

func asFloat(v protoreflect.Value) float64 {
	switch n := v.Interface().(type) {
	case int32:
		return float64(n)
	case int64:
		return float64(n)
	case uint32:
		return float64(n)
	case uint64:
		return float64(n)
	case float32:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

// boundDigits narrows a number that is written as a string: its sign by the
// pattern, the rest is for words.
func (r rules) boundDigits(s *openapi3.Schema) {
	if low, above, _, _ := r.bounds(); low != nil && asFloat(*low) >= 0 {
		s.Pattern = unsigned
		if above {
			s.Pattern = positive
		}
	}
	s.Enum = r.allowed(func(v protoreflect.Value) any { return v.String() })
}

// digitWords are the bounds of numbers of 64 bits.
func (r rules) digitWords() (all []string) {
	switch r.field.GetType().(type) {
	case *validate.FieldRules_Int64, *validate.FieldRules_Sint64, *validate.FieldRules_Sfixed64,
		*validate.FieldRules_Uint64, *validate.FieldRules_Fixed64:
	default:
		return nil
	}
	low, above, high, below := r.bounds()
	if low != nil {
		all = append(all, map[bool]string{false: "At least ", true: "More than "}[above]+low.String()+".")
	}
	if high != nil {
		all = append(all, map[bool]string{false: "At most ", true: "Less than "}[below]+high.String()+".")
	}
	return all
}

func (r rules) boundList(s *openapi3.Schema) {
	if n, ok := r.count("min_items"); ok {
		s.MinItems = n
	}
	if n, ok := r.count("max_items"); ok {
		s.MaxItems = &n
	}
	if v, ok := r.rule("unique"); ok {
		s.UniqueItems = v.Bool()
	}
}

func (r rules) boundMap(s *openapi3.Schema) {
	if n, ok := r.count("min_pairs"); ok {
		s.MinProps = n
	}
	if n, ok := r.count("max_pairs"); ok {
		s.MaxProps = &n
	}
}

// numbers says which values of an enum are allowed; it is nil where all are.
func (r rules) numbers() func(int64) bool {
	in := r.allowed(func(v protoreflect.Value) any { return v.Int() })
	not, excludes := r.rule("not_in")
	if in == nil && !excludes {
		return nil
	}
	return func(n int64) bool {
		for i := 0; excludes && i < not.List().Len(); i++ {
			if not.List().Get(i).Int() == n {
				return false
			}
		}
		for _, allowed := range in {
			if allowed == n {
				return true
			}
		}
		return in == nil
	}
}

// messageRules are those that look at a message as a whole.
func messageRules(d protoreflect.MessageDescriptor) (all []string) {
	r, _ := proto.GetExtension(d.Options(), validate.E_Message).(*validate.MessageRules)
	for _, c := range r.GetCel() {
		if c.GetMessage() != "" {
			all = append(all, asSentence(c.GetMessage()))
		}
	}
	for _, one := range r.GetOneof() {
		count := map[bool]string{false: "At most one", true: "Just one"}[one.GetRequired()]
		all = append(all, count+" of "+strings.Join(one.GetFields(), ", ")+".")
	}
	for i := range d.Oneofs().Len() {
		if one := d.Oneofs().Get(i); !one.IsSynthetic() {
			var names []string
			for j := range one.Fields().Len() {
				names = append(names, one.Fields().Get(j).JSONName())
			}
			all = append(all, "At most one of "+strings.Join(names, ", ")+".")
		}
	}
	return all
}

// paragraphs puts what rules say below a comment.
func paragraphs(comment string, words ...string) string {
	return strings.TrimSpace(comment + "\n\n" + strings.Join(words, " "))
}
