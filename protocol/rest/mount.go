package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Mount implements protocol.Mounter. A request that names no protocol by its
// content type is REST's: routes are what people type.
func (Protocol) Mount(svcs []*rpc.Service, h rpc.Handler, o protocol.Options, _ protocol.Limits) (protocol.Mount, error) {
	mux, err := newMux(svcs, h, o)
	if err != nil {
		return protocol.Mount{}, err
	}
	return protocol.Mount{Media: mediaTypes(o), Any: mux, Rest: true}, nil
}

// mediaTypes are those of a whole message and of a stream of them.
func mediaTypes(o protocol.Options) []string {
	var c *coding
	if o.Compressor != nil {
		c = newCoding(o.Compressor)
	}
	spec := o.Codec.Spec()
	all := []string{spec.Media}
	in, _ := framingsOf(spec, c)
	if base, _, err := mime.ParseMediaType(in.media()); err == nil && !slices.Contains(all, base) {
		all = append(all, base)
	}
	return all
}

// Example implements protocol.Mounter.
func (Protocol) Example(m *rpc.Method, base, message string, o protocol.Options) string {
	r, err := routeOf(m)
	if err != nil || o.Codec.Spec().Media != jsonMedia {
		return ""
	}
	target := base + r.path
	if r.targeted() {
		if target, message, err = exampleTarget(&endpoint{route: r, method: m}, base, message); err != nil {
			return ""
		}
	}
	command := "curl "
	if r.verb != http.MethodPost && r.verb != http.MethodGet { // which curl does with and without a body
		command += "-X " + r.verb + " "
	}
	if r.bodyless {
		return command + target
	}
	return fmt.Sprintf("%s-H 'Content-Type: %s' -d %s %s", command, jsonMedia, protocol.Quote(message), target)
}

// exampleTarget gives a message's URL, as a shell takes it, and what is left of
// the message for the body.
func exampleTarget(e *endpoint, base, message string) (target, left string, err error) {
	m := e.method.In.NewProto()
	if err := protojson.Unmarshal([]byte(message), m); err != nil {
		return "", "", err
	}
	path, query, rest, err := e.aim(e.method.In.FromProto(m))
	switch {
	case err != nil:
		return "", "", err
	case !e.bodyless:
		loose, err := protojson.Marshal(e.method.In.ToProto(rest))
		if err != nil {
			return "", "", err
		}
		var body bytes.Buffer
		err = json.Compact(&body, loose) // its spaces are drawn at random
		return base + path, body.String(), err
	case query != "":
		return protocol.Quote(base + path + "?" + query), "", nil
	}
	return base + path, "", nil
}
