package grpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// What a client may ask for to notice a dead connection, and what the server
// does to notice one. Clients of gRPC send pings every 10 s at the most often;
// by default servers end their connections for more than one in 5 min.
// Source: github.com/grpc/proposal, A8-client-side-keepalive.md.
const (
	leastPing   = 5 * time.Second
	pingEvery   = time.Minute
	pingTimeout = 20 * time.Second
)

// Mount implements protocol.Mounter. Beside services it answers gRPC's health
// checks and reflection. Requests are answered too, at several times the cost,
// where they come by a connection of net/http's server.
func (Protocol) Mount(svcs []*rpc.Service, h rpc.Handler, o protocol.Options, l protocol.Limits) (protocol.Mount, error) {
	s := &server{health: newHealth(svcs), draining: make(chan struct{})}
	for _, at := range []**grpc.Server{&s.native, &s.web} {
		*at = grpc.NewServer(append(append(mountOptions(o, l), refusing(svcs, h)...), grpc.StreamInterceptor(s.endWithServer))...)
		for _, svc := range svcs {
			desc, err := describe(svc, o)
			if err != nil {
				return protocol.Mount{}, fmt.Errorf("mount gRPC: %w", err)
			}
			(*at).RegisterService(desc, h)
		}
		s.health.register(*at)
	}
	return protocol.Mount{Media: mediaTypes(contentSubtype(o.Codec)), Any: http.HandlerFunc(s.web.ServeHTTP), Native: s}, nil
}

func mediaTypes(subtype string) []string {
	const media = "application/grpc"
	if subtype == "" {
		return []string{media, media + "+proto"}
	}
	return []string{media + "+" + subtype}
}

func mountOptions(o protocol.Options, l protocol.Limits) []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(wire(contentSubtype(o.Codec))),
		grpc.MaxRecvMsgSize(o.MaxMessage),
		grpc.Creds(handshaken{insecure.NewCredentials()}),
		grpc.ConnectionTimeout(l.HeaderTimeout),
		grpc.MaxHeaderListSize(uint32(min(l.HeaderBytes, math.MaxInt32))), //nolint:gosec // bounded
		grpc.MaxConcurrentStreams(uint32(min(l.Streams, math.MaxInt32))),  //nolint:gosec // bounded
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: l.IdleTimeout, Time: pingEvery, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: leastPing, PermitWithoutStream: true}),
	}
	if o.Compressor != nil {
		// Replies go uncompressed: grpc-go's server would compress each, whatever
		// its caller takes.
		options = append(options,
			grpc.RPCDecompressor(newDecompressor(o.Compressor, o.MaxMessage))) //nolint:staticcheck // see compressor
	}
	return options
}

// server is gRPC's part of a port. grpc-go closes the calls that came by
// net/http when it ends gracefully, so that these have a server of their own,
// which ends with net/http's.
type server struct {
	native, web *grpc.Server
	health      *healthChecks
	draining    chan struct{} // closed by Shutdown
}

func (s *server) Serve(l net.Listener) error {
	if err := s.native.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve gRPC: %w", err)
	}
	return nil
}

func (s *server) Shutdown(ctx context.Context) {
	close(s.draining)
	unhook := context.AfterFunc(ctx, s.native.Stop)
	defer unhook()
	s.native.GracefulStop()
}

func (s *server) SetServing(serving bool) { s.health.set(serving) }

// handshaken takes the handshake for done: what a connection says of it becomes
// the peer's identity, as grpc-go's own credentials would have it.
type handshaken struct {
	credentials.TransportCredentials // for a connection without TLS
}

func (h handshaken) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, ok := c.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return h.TransportCredentials.ServerHandshake(c)
	}
	return c, credentials.TLSInfo{
		State:          secured.ConnectionState(),
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}, nil
}

// Example implements protocol.Mounter.
func (Protocol) Example(m *rpc.Method, base, json string, _ protocol.Options) string {
	scheme, addr, _ := strings.Cut(base, "://")
	plain := ""
	if scheme == "http" {
		plain = "-plaintext "
	}
	return fmt.Sprintf("grpcurl %s-d %s %s %s/%s", plain, protocol.Quote(json), addr, m.Service, m.Name)
}
