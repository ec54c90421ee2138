package rest

import (
	"fmt"
	"mime"
	"net/http"
	"slices"

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
func (Protocol) Example(m *rpc.Method, base, json string, o protocol.Options) string {
	verb, path, err := route(m)
	if err != nil || o.Codec.Spec().Media != jsonMedia {
		return ""
	}
	command := "curl "
	if verb != http.MethodPost { // which curl does where there is a body
		command += "-X " + verb + " "
	}
	return fmt.Sprintf("%s-H 'Content-Type: %s' -d %s %s%s", command, jsonMedia, protocol.Quote(json), base, path)
}
