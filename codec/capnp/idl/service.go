package idl

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// What a method has beside its messages, by the names that follow its full name.
//
// A failure is part of a result, since an exception of Cap'n Proto is text and
// has no room for violations. A stream is calls of an interface that the side
// that takes it gives to the other, so that Cap'n Proto's own flow control
// holds it back.
const (
	Failure  = "Failure"  // beside a package's name: why a call failed
	Result   = "Result"   // the answer of a call that has one reply
	Replies  = "Replies"  // takes replies: send
	Requests = "Requests" // takes requests: send, and end, which gives the Result
)

func (w *writer) service(s protoreflect.ServiceDescriptor) {
	w.failure()
	w.b.WriteString("\n")
	w.line(0, "interface %s @0x%x {", s.Name(), ID(string(s.FullName())))
	w.comment(1, s.FullName())
	for i := range s.Methods().Len() {
		w.method(s.Methods().Get(i), i)
	}
	w.line(0, "}")
}

func (w *writer) failure() {
	violation := w.box("FieldViolation", []string{"field", "description", "reason"}, []string{"Text", "Text", "Text"})
	w.box(Failure, []string{"code", "message", "violations", "retryAfterNanos"},
		[]string{"Int32", "Text", "List(" + violation + ")", "Int64"})
}

func (w *writer) method(m protoreflect.MethodDescriptor, ordinal int) {
	name := string(m.Name())
	lower := string(name[0]|0x20) + name[1:]
	in, out := string(m.Input().Name()), string(m.Output().Name())
	replies := "(failure :" + Failure + ")"
	if !m.IsStreamingServer() {
		replies = name + Result
		w.add(m, Result, "struct %s {\n  union {\n    reply @0 :"+out+";\n    failure @1 :"+Failure+";\n  }\n}\n")
	} else {
		w.add(m, Replies, "interface %s {\n  send @0 "+out+" -> stream;\n}\n")
	}
	if m.IsStreamingClient() {
		w.add(m, Requests, "interface %s {\n  send @0 "+in+" -> stream;\n  end @1 () -> "+replies+";\n}\n")
	}
	switch {
	case m.IsStreamingClient() && m.IsStreamingServer():
		w.line(1, "%s @%d (replies :%s) -> (requests :%s);", lower, ordinal, name+Replies, name+Requests)
	case m.IsStreamingClient():
		w.line(1, "%s @%d () -> (requests :%s);", lower, ordinal, name+Requests)
	case m.IsStreamingServer():
		w.line(1, "%s @%d (request :%s, replies :%s) -> %s;", lower, ordinal, in, name+Replies, replies)
	default:
		w.line(1, "%s @%d %s -> %s;", lower, ordinal, in, replies)
	}
	w.comment(1, m.FullName())
}

// add adds what a method has beside its messages.
func (w *writer) add(m protoreflect.MethodDescriptor, what, form string) {
	name := string(m.Name()) + what
	w.boxes[name] = fmt.Sprintf(form, fmt.Sprintf("%s @0x%x", name, ID(w.pkg+"."+name)))
}
