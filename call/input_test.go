package call_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tare-bench/tare/call"
)

// What is wrong in a text is told by its line and column in the whole of it.
func TestInputErrorsHaveTheirPlace(t *testing.T) {
	addr := serve(t, "grpc+proto")
	for _, test := range []struct{ method, in, want string }{
		{"Echo", `{"item": {"text": 3}}`, `-d, line 1, column 19: invalid value for string field text: 3`},
		{"Echo", "{\n  \"item\": {\n    \"nmber\": 3}}", `-d, line 3, column 5: unknown field "nmber"`},
		{"Echo", "\n\n  {\"failCode\": 1e99}", `-d, line 3, column 16: invalid value for int32 field failCode: 1e99`},
		{"Echo", `{"item": }`, `-d, line 1, column 10: invalid character '}' looking for beginning of value`},
		{"Echo", "{\"item\":\n  {", `-d, line 2, column 4: unexpected EOF`},
		{"Echo", ` `, `-d, line 1, column 1: there is no JSON value; without -d an empty message is sent`},
		{"Echo", "{}\n {}", `-d, line 2, column 2: Echo takes one message, and here is another`},
		{"Echo", `[]`, `-d, line 1, column 1: syntax error: unexpected token [`},
		{"Echo", `{"item":{"text":"a"},"item":{}}`, `-d, line 1, column 22: duplicate field "item"`},
		{"Collect", "{}\n{\"item\":\n{\"mood\": \"LOUD\"}}", `-d, line 3, column 10: invalid value for enum field mood: "LOUD"`},
		{"Converse", `{} nonsense`, `-d, line 1, column 5: invalid character 'o' in literal null (expecting 'u')`},
	} {
		for _, source := range []*call.Input{text(test.in), {Name: "-d", Reader: iotest.OneByteReader(strings.NewReader(test.in))}} {
			_, _, _, err := ask(t.Context(), t, request{url: "grpc://" + addr + "/" + service + "/" + test.method, in: source})
			if err == nil || err.Error() != test.want {
				t.Errorf("%s of %q ended with\n%v, want\n%s", test.method, test.in, err, test.want)
			}
		}
	}
	broken := &call.Input{Name: "order.json", Reader: iotest.ErrReader(errors.New("disk on fire"))}
	_, _, _, err := ask(t.Context(), t, request{url: "grpc://" + addr + "/" + service + "/Collect", in: broken})
	if err == nil || err.Error() != "read order.json: disk on fire" {
		t.Errorf("a text that cannot be read ends with %v", err)
	}
}

func TestTargets(t *testing.T) {
	for _, test := range []struct{ url, protocol, address, err string }{
		{url: "grpc://h:1/a.B/C", protocol: "grpc", address: "h:1"},
		{url: "grpcs://h", protocol: "grpc", address: "h:https"},
		{url: "http://[::1]:8080/api/a.b.C/D", protocol: "connect", address: "[::1]:8080"},
		{url: "http://h/a.B/C?x=1", protocol: "connect", address: "h:http"},
		{url: "http://h/v1/orders", protocol: "rest", address: "h:http"},
		{url: "https://h/files/report.pdf/pages", protocol: "rest", address: "h:https"},
		{url: "http://h/C/D", protocol: "rest", address: "h:http"},
		{url: "h:8080/a.B/C", err: "is no URL such as grpc://"},
		{url: "127.0.0.1:8080", err: "is no URL such as grpc://"},
		{url: "ftp://h/x", err: "the scheme ftp is none of grpc, grpcs, http and https"},
		{url: "grpc:///a.B/C", err: "is no URL such as"},
	} {
		target, err := call.ParseTarget(test.url)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s gives %v, want %s", test.url, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s gives %v", test.url, err)
			continue
		}
		dialect, err := call.Choose(dialects, target)
		if err != nil || dialect.Protocol() != test.protocol || target.Address() != test.address || target.String() != test.url {
			t.Errorf("%s is %s of %s at %s (%v), want %s at %s", test.url, target, dialect.Protocol(), target.Address(), err, test.protocol, test.address)
		}
	}
}
