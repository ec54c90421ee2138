package rpc

import "context"

type peer struct{}

// WithPeer gives the context of a connection, and so of the calls that come
// over it, that somebody at addr has opened.
func WithPeer(ctx context.Context, addr string) context.Context {
	return context.WithValue(ctx, peer{}, addr)
}

// Peer is the address at the other end of the connection that a call came over,
// or "" where whoever serves does not say.
func Peer(ctx context.Context) string {
	addr, _ := ctx.Value(peer{}).(string)
	return addr
}
