package grpc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/grpc"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// prefixLen is the length of what precedes each message: a byte that says
// whether it is compressed, and its length.
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md, Length-Prefixed-Message.
const prefixLen = 5

// Carriage says that frames share the connections that channels would.
func (Protocol) Carriage(o protocol.Options) (protocol.Carriage, error) {
	if v := o.Settings[channel.Name]; v == perCall {
		return protocol.Carriage{}, fmt.Errorf("%s=%s: the lean driver keeps its connections", channel.Name, v)
	}
	return protocol.Carriage{HTTP2: true, Conns: o.SharedConns(streamsPerChannel), KeepAlive: true}, nil
}

// Frame prepares a unary call.
func (Protocol) Frame(m *rpc.Method, in any, o protocol.Options) (protocol.Frame, error) {
	bound, err := bindMethod(m, o)
	if err != nil {
		return protocol.Frame{}, err
	}
	body, err := bound.in.Append(make([]byte, prefixLen), bound.in.Native(in))
	if err != nil {
		return protocol.Frame{}, fmt.Errorf("encode request of %s: %w", bound.path, err)
	}
	contentType := "application/grpc"
	if s := contentSubtype(o.Codec); s != "" {
		contentType += "+" + s
	}
	header := []protocol.Field{
		{Name: "content-type", Value: contentType},
		{Name: "user-agent", Value: "grpc-go/" + grpc.Version},
		{Name: "te", Value: "trailers"},
	}
	if o.Compressor != nil {
		name := o.Compressor.Spec().Name
		header = append(header,
			protocol.Field{Name: "grpc-encoding", Value: name},
			protocol.Field{Name: "grpc-accept-encoding", Value: name})
		if body, err = compressBody(body, o); err != nil {
			return protocol.Frame{}, fmt.Errorf("compress request of %s: %w", bound.path, err)
		}
	}
	header = append(header, protocol.Field{Name: "grpc-timeout", Value: protocol.FormatTimeout(o.Timeout)})
	binary.BigEndian.PutUint32(body[1:prefixLen], uint32(len(body)-prefixLen))
	return protocol.Frame{Verb: http.MethodPost, Path: bound.path, Header: header, Body: body, Check: check}, nil
}

// compressBody compresses what follows the prefix, unless it is empty: as
// grpc-go does.
func compressBody(body []byte, o protocol.Options) ([]byte, error) {
	if len(body) == prefixLen {
		return body, nil
	}
	compressed := bytes.NewBuffer([]byte{1, 0, 0, 0, 0})
	err := newCompressor(o.Compressor).Do(compressed, body[prefixLen:])
	return compressed.Bytes(), err
}

// check reads the trailer: a gRPC failure is an HTTP success.
func check(a protocol.Answer) error {
	code := a.Field("grpc-status")
	if code == "0" && a.Status == http.StatusOK {
		return nil
	}
	n, err := strconv.Atoi(code)
	if err != nil || a.Status != http.StatusOK {
		return &rpc.Error{
			Code: rpc.Unavailable, Transport: rpc.Protocol,
			Message: fmt.Sprintf("HTTP status %d with grpc-status %q", a.Status, code),
		}
	}
	message := a.Field("grpc-message")
	if plain, err := url.PathUnescape(message); err == nil {
		message = plain
	}
	// Unescaped or not, message may be the answer's own memory.
	return &rpc.Error{Code: rpc.Code(n), Message: strings.Clone(message)}
}
