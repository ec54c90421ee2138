package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// userAgents are what net/http's client calls itself, by HTTP version.
var userAgents = map[string]string{http1: "Go-http-client/1.1", http2: "Go-http-client/2.0"}

// Carriage implements protocol.Framer.
func (Protocol) Carriage(o protocol.Options) (protocol.Carriage, error) {
	return protocol.Carriage{
		HTTP2:     o.Settings[version.Name] == http2,
		Conns:     connsOf(o),
		KeepAlive: o.Settings[keepAlive.Name] != keepAliveOff,
	}, nil
}

// Frame implements protocol.Framer.
func (Protocol) Frame(m *rpc.Method, in any, o protocol.Options) (protocol.Frame, error) {
	bound, err := bind(&rpc.Service{Name: m.Service, Methods: []*rpc.Method{m}}, o)
	if err != nil {
		return protocol.Frame{}, err
	}
	e := bound[0]
	path := e.path
	if e.targeted() {
		var query string
		if path, query, in, err = e.aim(in); err != nil {
			return protocol.Frame{}, err
		}
		if query != "" {
			path += "?" + query
		}
	}
	var body []byte
	if !e.bodyless {
		if body, err = e.body(in); err != nil {
			return protocol.Frame{}, err
		}
	}
	f := protocol.Frame{
		Verb: e.verb, Path: path, Body: body,
		Header: []protocol.Field{{Name: "user-agent", Value: userAgents[o.Settings[version.Name]]}},
		Check:  checkAnswer,
	}
	for name, values := range e.requestHeader() {
		f.Header = append(f.Header, protocol.Field{Name: strings.ToLower(name), Value: values[0]})
	}
	slices.SortFunc(f.Header, func(a, b protocol.Field) int { return strings.Compare(a.Name, b.Name) })
	if o.Timeout > 0 {
		f.Header = append(f.Header, protocol.Field{Name: strings.ToLower(timeoutField), Value: protocol.FormatTimeout(o.Timeout)})
	}
	if o.Settings[keepAlive.Name] == keepAliveOff && o.Settings[version.Name] == http1 {
		f.Header = append(f.Header, protocol.Field{Name: "connection", Value: "close"})
	}
	return f, nil
}

func checkAnswer(a protocol.Answer) error {
	if a.Status == http.StatusOK {
		return nil
	}
	return decodeFailure(a.Status, a.Body, a.Field("retry-after"), a.Field("date"))
}
