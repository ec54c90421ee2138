// Package schema finds what services and messages look like: in .proto files,
// in descriptor sets, by a server's reflection, or among those that the program
// was built with. It shows them to a person as source, as an example, and
// messages as JSON.
//
// It makes no connection: whoever asks a server gives it one.
package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jhump/protoreflect/v2/grpcreflect"
	"github.com/jhump/protoreflect/v2/protoprint"
	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Schema is a set of services and of the types that they use.
type Schema struct {
	// From says where the schema is from, as errors name it: "--proto api".
	From     string
	resolver protoresolve.Resolver
	services func() ([]protoreflect.FullName, error)
}

// newSchema makes a schema of files that are at hand. What they leave out is
// taken from the program's own.
func newSchema(from string, files protoresolve.Resolver) *Schema {
	services := func() (names []protoreflect.FullName, _ error) {
		files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
			for i := range f.Services().Len() {
				names = append(names, f.Services().Get(i).FullName())
			}
			return true
		})
		return names, nil
	}
	return &Schema{from, protoresolve.Combine(files, protoresolve.GlobalDescriptors), services}
}

// Builtin is the schema of what the program was built with.
func Builtin() *Schema {
	return newSchema("what tare was built with", protoresolve.GlobalDescriptors)
}

// Services lists the services, sorted.
func (s *Schema) Services() ([]protoreflect.FullName, error) {
	names, err := s.services()
	slices.Sort(names)
	return slices.Compact(names), err
}

// Types resolves messages within google.protobuf.Any, and extensions.
func (s *Schema) Types() protoresolve.TypeResolver { return s.resolver.AsTypeResolver() }

// UnknownError is of a name that a schema does not have.
type UnknownError struct {
	What, Name, From string   // What is Service, or another kind of thing
	Near             []string // names that it does have, the most alike first
}

// Service is what UnknownError calls one.
const Service = "service"

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no %s %s in %s", e.What, e.Name, e.From)
}

// Hint says which names there are.
func (e *UnknownError) Hint() string {
	if len(e.Near) == 0 {
		return ""
	}
	return "there is " + list(e.Near)
}

// Method finds a method of a service.
func (s *Schema) Method(service, method string) (protoreflect.MethodDescriptor, error) {
	d, err := s.find(service, Service, s.serviceNames)
	if err != nil {
		return nil, err
	}
	svc, ok := d.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, &UnknownError{What: Service, Name: service, From: s.From}
	}
	if m := svc.Methods().ByName(protoreflect.Name(method)); m != nil {
		return m, nil
	}
	var names []string
	for i := range svc.Methods().Len() {
		names = append(names, string(svc.Methods().Get(i).Name()))
	}
	return nil, &UnknownError{"method", method, "service " + service, nearest(method, names)}
}

// Message finds a message type.
func (s *Schema) Message(name string) (protoreflect.MessageDescriptor, error) {
	d, err := s.find(name, "message", s.typeNames)
	if err != nil {
		return nil, err
	}
	m, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s in %s is a %s, and not a message", name, s.From, protoresolve.KindOf(d))
	}
	return m, nil
}

// Describe gives the source of a service, type or whatever else has a full
// name; of a method, with its messages.
func (s *Schema) Describe(name string) (string, error) {
	d, err := s.find(strings.ReplaceAll(name, "/", "."), "service, method or type", s.allNames)
	if err != nil {
		return "", err
	}
	all := []protoreflect.Descriptor{d}
	if m, ok := d.(protoreflect.MethodDescriptor); ok {
		all = append(all, m.Input())
		if m.Output() != m.Input() {
			all = append(all, m.Output())
		}
	}
	var sources []string
	for _, d := range all {
		source, err := (&protoprint.Printer{Compact: true}).PrintProtoToString(d)
		if err != nil {
			return "", fmt.Errorf("print source of %s: %w", d.FullName(), err)
		}
		sources = append(sources, fmt.Sprintf("// %s, in %s\n%s", d.FullName(), d.ParentFile().Path(), source))
	}
	return strings.Join(sources, "\n"), nil
}

// Template gives an example of a message, or of a method's request, as JSON:
// every field that can stand beside the others, with its zero value, and one
// element in each list and map.
func (s *Schema) Template(name string) ([]byte, error) {
	d, err := s.find(strings.ReplaceAll(name, "/", "."), "method or message", s.allNames)
	if err != nil {
		return nil, err
	}
	switch d := d.(type) {
	case protoreflect.MethodDescriptor:
		return template(d.Input())
	case protoreflect.MessageDescriptor:
		return template(d)
	}
	return nil, fmt.Errorf("%s is a %s, and neither a method nor a message", name, protoresolve.KindOf(d))
}

// Method is one line of a list of methods.
type Method struct {
	Path  string // "acme.v1.Ledger/Post"
	Types string // "(PostRequest) returns (stream acme.v1.Entry)"; "" where not known
}

// Methods lists the methods of all services, in order.
func (s *Schema) Methods() (all []Method, err error) {
	names, err := s.Services()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		d, err := s.resolver.FindDescriptorByName(name)
		svc, ok := d.(protoreflect.ServiceDescriptor)
		if err != nil || !ok {
			all = append(all, Method{Path: string(name)}) // which is all that is known
			continue
		}
		for i := range svc.Methods().Len() {
			m := svc.Methods().Get(i)
			all = append(all, Method{fmt.Sprintf("%s/%s", name, m.Name()), signature(m)})
		}
	}
	return all, nil
}

// signature gives a method's types as .proto files write them.
func signature(m protoreflect.MethodDescriptor) string {
	side := func(streams bool, d protoreflect.MessageDescriptor) string {
		if streams {
			return "(stream " + string(d.FullName()) + ")"
		}
		return "(" + string(d.FullName()) + ")"
	}
	return side(m.IsStreamingClient(), m.Input()) + " returns " + side(m.IsStreamingServer(), m.Output())
}

// find looks a full name up; where there is none, its error has the nearest of
// names.
func (s *Schema) find(name, what string, names func() []string) (protoreflect.Descriptor, error) {
	if !protoreflect.FullName(name).IsValid() {
		return nil, fmt.Errorf("%q is no full name such as acme.v1.Ledger", name)
	}
	d, err := s.resolver.FindDescriptorByName(protoreflect.FullName(name))
	switch {
	case err == nil:
		return d, nil
	case errors.Is(err, protoresolve.ErrNotFound), grpcreflect.IsElementNotFoundError(err):
		return nil, &UnknownError{what, name, s.From, nearest(name, names())}
	}
	return nil, fmt.Errorf("find %s in %s: %w", name, s.From, err)
}

func (s *Schema) serviceNames() (all []string) {
	names, err := s.Services()
	if err != nil {
		return nil // that there are no nearest names is told by their absence
	}
	for _, name := range names {
		all = append(all, string(name))
	}
	return all
}

func (s *Schema) typeNames() (all []string) {
	s.resolver.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		all = append(all, messages(f.Messages())...)
		return true
	})
	return all
}

func messages(list protoreflect.MessageDescriptors) (all []string) {
	for i := range list.Len() {
		all = append(all, string(list.Get(i).FullName()))
		all = append(all, messages(list.Get(i).Messages())...)
	}
	return all
}

func (s *Schema) allNames() []string { return append(s.serviceNames(), s.typeNames()...) }
