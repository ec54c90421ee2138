package connect

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Mount implements protocol.Mounter. Its handlers also speak the other protocol
// of this package; which requests come to them, Media says.
func (p Protocol) Mount(svcs []*rpc.Service, h rpc.Handler, o protocol.Options, _ protocol.Limits) (protocol.Mount, error) {
	m := protocol.Mount{Media: p.framing.media(o.Codec.Spec().Subtype), Paths: make(map[string]http.Handler)}
	for _, svc := range svcs {
		handlers, err := handlersOf(svc, h, o)
		if err != nil {
			return protocol.Mount{}, fmt.Errorf("mount %s: %w", p.name, err)
		}
		maps.Copy(m.Paths, handlers)
	}
	return m, nil
}

// Source: connectrpc.com/docs/protocol, Unary-Content-Type and
// Streaming-Content-Type.
func (connectFraming) media(subtype string) []string {
	return []string{"application/" + subtype, "application/connect+" + subtype}
}

// Without a subtype it is gRPC's default codec.
// Source: github.com/grpc/grpc, doc/PROTOCOL-WEB.md, Content-Type.
func (webFraming) media(subtype string) []string {
	media := "application/grpc-web+" + subtype
	if media == "application/grpc-web+proto" {
		return []string{media, "application/grpc-web"}
	}
	return []string{media}
}
