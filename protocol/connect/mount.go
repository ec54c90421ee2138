package connect

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Mount implements protocol.Mounter. Its handlers also speak the other protocol
// of this package; which requests come to them, Media says.
func (p Protocol) Mount(svcs []*rpc.Service, h rpc.Handler, o protocol.Options, _ protocol.Limits) (protocol.Mount, error) {
	m := protocol.Mount{
		Media: p.framing.media(o.Codec.Spec().Subtype), Paths: make(map[string]http.Handler), Sharers: sharers,
	}
	for _, svc := range svcs {
		handlers, err := handlersOf(svc, h, o)
		if err != nil {
			return protocol.Mount{}, fmt.Errorf("mount %s: %w", p.name, err)
		}
		maps.Copy(m.Paths, handlers)
	}
	return m, nil
}

// sharers are connect's own clients in Go and in other languages. They speak gRPC
// too, by whatever client of HTTP they are given, which calls of the other
// protocols may share.
// Source: connectrpc.com/connect v1.21.1, protocol_grpc.go and protocol_connect.go.
var sharers = []string{"grpc-go-connect/", "connect-"}

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

// Example implements protocol.Mounter. What is not plain JSON in a body takes a
// tool that asks the port for its schema.
func (p Protocol) Example(m *rpc.Method, base, json string, o protocol.Options) string {
	if media := p.framing.media(o.Codec.Spec().Subtype)[0]; m.Kind == rpc.Unary && media == "application/json" {
		return fmt.Sprintf("curl -H 'Content-Type: %s' -d %s %s%s", media, protocol.Quote(json), base, m.Path())
	}
	plain := ""
	if strings.HasPrefix(base, "http:") {
		plain = "--http2-prior-knowledge "
	}
	return fmt.Sprintf("buf curl --protocol %s %s-d %s %s%s", p.name, plain, protocol.Quote(json), base, m.Path())
}
