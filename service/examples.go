package service

import (
	"bytes"
	"encoding/json"
	"net"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// Example is a command line by which a person calls the services.
type Example struct{ Protocol, Command string }

// Names are those of the services that are run, for a person.
func (s *Service) Names() string { return names(s.run) }

// Kept is where the services keep their records, without passwords.
func (s *Service) Kept() string { return store.Redact(s.config.Store) }

// Examples gives one for each protocol: a call that the workload makes, at addr.
func (s *Service) Examples(addr net.Addr) (all []Example) {
	m, body := s.example()
	if m == nil {
		return nil
	}
	at := make(map[string]int)
	for _, stack := range s.stacks {
		command := stack.Protocol.(protocol.Mounter).Example(m, s.URL(addr), body, stack.Options(1))
		name := stack.Protocol.Spec().Name
		i, there := at[name]
		switch {
		case command == "":
		case !there:
			at[name] = len(all)
			all = append(all, Example{name, command})
		case len(command) < len(all[i].Command): // what takes less to say
			all[i].Command = command
		}
	}
	return all
}

// Message is what each of the Examples sends, in JSON.
func (s *Service) Message() string {
	_, message := s.example()
	return message
}

// URL is where the port's paths begin, for a caller on this machine.
func (s *Service) URL(addr net.Addr) string {
	scheme := "http"
	if s.config.Files.Cert != "" {
		scheme = "https"
	}
	host := addr.String()
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}).String()
	}
	return scheme + "://" + host
}

// example gives a call to a service that is run, and its message: one of the leg
// that the workload means for it, else of those that load the first service; of
// the first calls that the workload makes, the one that is the least to read.
func (s *Service) example() (of *rpc.Method, message string) {
	spec := s.workload.Spec()
	for _, leg := range spec.Legs {
		if leg.Name == spec.Example && slices.ContainsFunc(s.run, func(t tier) bool { return t.name == leg.Tiers[0].Name }) {
			return s.shortest(leg)
		}
	}
	for _, leg := range spec.Legs {
		if leg.Tiers[0].Name != s.run[0].name || leg.Tiers[0].Calls[0].Kind.StreamsIn() {
			continue
		}
		if m, text := s.shortest(leg); of == nil || len(text) < len(message) {
			of, message = m, text
		}
	}
	return of, message
}

// shortest gives the call of a leg, of the first of them, whose message is the
// shortest. Where one is too long to be read, so are they all.
func (s *Service) shortest(leg workload.Leg) (of *rpc.Method, message string) {
	const first, readable = 32, 4 << 10
	n := 0
	for call := range s.workload.Calls(leg.Name, s.params, 1) {
		if text := inJSON(call.Method.In, call.In[0]); of == nil || len(text) < len(message) {
			of, message = call.Method, text
		}
		if n++; n == first || len(message) > readable {
			break
		}
	}
	return of, message
}

func inJSON(t *rpc.Type, plain any) string {
	// What a workload makes can be encoded. Spaces in it are drawn at random.
	loose, _ := protojson.Marshal(t.ToProto(plain))
	var b bytes.Buffer
	_ = json.Compact(&b, loose)
	return b.String()
}
