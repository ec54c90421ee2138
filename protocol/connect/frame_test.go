package connect

import (
	"encoding/binary"
	"net/http"
	"strings"
	"testing"

	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

func TestWebCheckReadsTheTrailer(t *testing.T) {
	const success, failure = "grpc-status: 0\r\n", "Grpc-Status: 5\r\nGrpc-Message: no%20account\r\n"
	packed, err := compressed(nil, []byte(success), gzip.Compressor{})
	if err != nil {
		t.Fatal(err)
	}
	long, err := compressed(nil, []byte(success+"x: "+strings.Repeat("x", longestTrailer)+"\r\n"), gzip.Compressor{})
	if err != nil {
		t.Fatal(err)
	}
	message := envelope(0, "grpc-status: 0") // what a trailer would say
	for _, c := range []struct {
		name   string
		status int
		header []protocol.Field
		body   string
		class  string
	}{
		{"a message and success", http.StatusOK, nil, message + envelope(flagTrailer, success), "ok"},
		{"success, compressed", http.StatusOK, nil, message + envelope(flagTrailer|flagCompressed, string(packed)), "ok"},
		{"a trailer that expands without end", http.StatusOK, nil, envelope(flagTrailer|flagCompressed, string(long)), "protocol"},
		{"failure after a message", http.StatusOK, nil, message + envelope(flagTrailer, failure), "not_found"},
		{"failure alone", http.StatusOK, []protocol.Field{{Name: statusField, Value: "5"}}, "", "not_found"},
		{"no trailer", http.StatusOK, nil, message, "protocol"},
		{"nothing", http.StatusOK, nil, "", "protocol"},
		{"cut in the trailer", http.StatusOK, nil, message + envelope(flagTrailer, success)[:9], "protocol"},
		{"bytes after the trailer", http.StatusOK, nil, envelope(flagTrailer, success) + "x", "protocol"},
		{"compressed noise", http.StatusOK, nil, envelope(flagTrailer|flagCompressed, success), "protocol"},
		{"a trailer without a status", http.StatusOK, nil, envelope(flagTrailer, "a: b\r\n"), "protocol"},
		{"not gRPC-Web", http.StatusNotFound, nil, "404", "protocol"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := webFraming{}.check(gzip.Compressor{})(protocol.Answer{Status: c.status, Fields: c.header, Body: []byte(c.body)})
			if got := rpc.Class(err); got != c.class {
				t.Errorf("class is %s (%v), want %s", got, err, c.class)
			}
		})
	}
}

func envelope(flags byte, content string) string {
	return string(binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(content)))) + content
}
