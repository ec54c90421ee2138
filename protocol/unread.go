package protocol

import "net/http"

// discarded is how much of a body that nobody read net/http's server throws away
// on HTTP/1.1, so that the connection can carry its answer. With more to come it
// closes the connection, and a caller that still sends may never see the answer.
const discarded = 256 << 10

// MayStayUnread says that net/http's server can answer r though nobody reads its
// body.
func MayStayUnread(r *http.Request) bool {
	return r.ProtoMajor >= 2 || r.ContentLength >= 0 && r.ContentLength <= discarded
}
