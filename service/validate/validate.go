// Package validate holds what comes in to the rules of the schema. A handler
// that it stands around sees no message that breaks one; the caller is told
// each rule that was broken, by field. It knows only package rpc, and rules as
// protovalidate has them; whatever composes a service uses it.
package validate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/rpc"
)

// maxViolations bounds what one failure tells: with it a trailer of gRPC stays
// under the 8 KiB of header that proxies take.
const maxViolations = 32

// Rules are those of some services' requests, compiled. They are safe for
// concurrent use.
type Rules struct {
	validator protovalidate.Validator
	ruled     map[*rpc.Type]bool // message types that have rules, in them or below
}

// CheckMethods are the methods of Rules whose work is validation, for whoever
// looks for it in the stacks of a profile.
var CheckMethods = []string{"Check"}

// New compiles the rules of all messages that services take, and of those that
// they hold. A rule that cannot be compiled is an error.
func New(services ...*rpc.Service) (*Rules, error) {
	r := &Rules{ruled: make(map[*rpc.Type]bool)}
	var empty []proto.Message
	there := make(map[protoreflect.FullName]bool)
	for _, svc := range services {
		for _, m := range svc.Methods {
			message := m.In.NewProto().ProtoReflect()
			if hasRules(message.Descriptor(), make(map[protoreflect.FullName]bool)) {
				r.ruled[m.In] = true
				empty = append(empty, held(message, there)...)
			}
		}
	}
	var err error
	r.validator, err = protovalidate.New(protovalidate.WithMessages(empty...), protovalidate.WithDisableLazy())
	if err != nil {
		return nil, fmt.Errorf("compile rules of the schema: %w", err)
	}
	for _, m := range empty { // a rule that does not compile shows when it is first used
		var broken *protovalidate.CompilationError
		if err := r.validator.Validate(m); errors.As(err, &broken) {
			return nil, fmt.Errorf("compile rules of %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
		}
	}
	return r, nil
}

// Handler gives h with each message held to the rules before h receives it.
func (r *Rules) Handler(h rpc.Handler) rpc.Handler {
	return rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		if !r.ruled[m.In] {
			return h.Handle(ctx, m, s)
		}
		return h.Handle(ctx, m, &checked{s, r, m.In})
	})
}

// checked is a call's messages, of which only those that break no rule pass.
type checked struct {
	rpc.Stream
	rules *Rules
	in    *rpc.Type
}

func (c *checked) Recv() (any, error) {
	plain, err := c.Stream.Recv()
	if err != nil {
		return nil, err
	}
	if err := c.rules.Check(c.in, plain); err != nil {
		return nil, err
	}
	return plain, nil
}

// Check says which rules a message breaks: nil, or an *rpc.Error of
// INVALID_ARGUMENT with a Violation for each of the first of them.
func (r *Rules) Check(t *rpc.Type, plain any) error {
	read := t.ToProto
	if t.Outline != nil {
		read = t.Outline
	}
	err := r.validator.Validate(read(plain))
	if err == nil {
		return nil
	}
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) || len(invalid.Violations) == 0 {
		return rpc.Errorf(rpc.Internal, "validate %s: %v", t.Name, err)
	}
	return refusal(invalid.Violations)
}

func refusal(broken []*protovalidate.Violation) *rpc.Error {
	e := &rpc.Error{Code: rpc.InvalidArgument, Violations: make([]rpc.Violation, min(len(broken), maxViolations))}
	for i := range e.Violations {
		e.Violations[i] = violation(broken[i].Proto)
	}
	first := e.Violations[0]
	e.Message = strings.TrimSpace(first.Field + " " + first.Description)
	if n := len(broken) - 1; n > 0 {
		e.Message += fmt.Sprintf("; and %d more", n)
	}
	return e
}

// violation says a broken rule in rpc's terms. The rule's ID, such as
// "string.min_len", becomes a reason as google.rpc spells them.
func violation(v *validatepb.Violation) rpc.Violation {
	reason := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return c
		}
		return '_'
	}, v.GetRuleId())
	description := v.GetMessage()
	if description == "" {
		description = "breaks " + v.GetRuleId()
	}
	return rpc.Violation{Field: protovalidate.FieldPathString(v.GetField()), Description: description, Reason: reason}
}

// held gives a message and those that it may hold, each empty and once: what the
// rules of the whole leave out is held to its own by itself.
func held(m protoreflect.Message, there map[protoreflect.FullName]bool) []proto.Message {
	if name := m.Descriptor().FullName(); there[name] || wellKnown(name) {
		return nil
	}
	there[m.Descriptor().FullName()] = true
	all := []proto.Message{m.Interface()}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch f := fields.Get(i); {
		case f.IsMap():
			if f.MapValue().Message() != nil {
				all = append(all, held(m.NewField(f).Map().NewValue().Message(), there)...)
			}
		case f.Message() == nil:
		case f.IsList():
			all = append(all, held(m.NewField(f).List().NewElement().Message(), there)...)
		default:
			all = append(all, held(m.NewField(f).Message(), there)...)
		}
	}
	return all
}

// wellKnown says that a message is protobuf's own, and has no rules in it.
func wellKnown(name protoreflect.FullName) bool { return name.Parent() == "google.protobuf" }

// hasRules says whether a message, or one that it holds, has any rule. It looks
// for the option's number, since in a schema that was read at run time the
// option may not be parsed.
func hasRules(m protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if seen[m.FullName()] {
		return false
	}
	seen[m.FullName()] = true
	if hasOption(m) {
		return true
	}
	for i := range m.Oneofs().Len() {
		if hasOption(m.Oneofs().Get(i)) {
			return true
		}
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if hasOption(f) {
			return true
		}
		if below := f.Message(); below != nil && hasRules(below, seen) {
			return true
		}
	}
	return false
}
