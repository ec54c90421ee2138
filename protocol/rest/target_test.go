package rest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/rest"
	"github.com/tare-bench/tare/rpc"
)

// Frames are what clients send, as protocoltest holds.
func TestWhatStandsInPathQueryAndBody(t *testing.T) {
	to := int64(0)
	for _, test := range []struct {
		m                *rpc.Method
		in               any
		verb, path, body string
	}{
		{conformance.Find, &conformance.FindRequest{Name: "a/b c?d", Level: -1}, "GET", "/v1/items/a%2Fb%20c%3Fd/levels/-1", ""},
		{conformance.Find, &conformance.FindRequest{
			Name: "..", PageSize: 5, Tags: []string{"a&b", ""}, Mood: 2, Range: &conformance.Range{To: &to},
		}, "GET", "/v1/items/%2E%2E/levels/0?pageSize=5&mood=MOOD_BRISK&tags=a%26b&tags=&range.to=0", ""},
		{conformance.Amend, &conformance.AmendRequest{Name: "a", Item: &conformance.Item{Text: "b"}}, "PUT", "/v1/items/a",
			`{"item":{"text":"b","ratio":0}}`},
		{conformance.Find, &conformance.FindRequest{Name: "a", Range: &conformance.Range{}}, "GET", "/v1/items/a/levels/0?range.from=0", ""},
		{conformance.Follow, &conformance.FollowRequest{}, "GET", "/v1/items:follow", ""},
	} {
		f, err := rest.New().Frame(test.m, test.in, options(t))
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Verb != test.verb || f.Path != test.path || string(f.Body) != test.body {
			t.Errorf("%s goes to %s %s with %s, want %s %s with %s", test.m.Name, f.Verb, f.Path, f.Body, test.verb, test.path, test.body)
		}
	}
}

func TestMessagesThatNoTargetHolds(t *testing.T) {
	for field, in := range map[string]*conformance.FindRequest{
		"name": {Level: 1},
	} {
		_, err := rest.New().Frame(conformance.Find, in, options(t))
		e := rpc.ErrorOf(err)
		if err == nil || e.Code != rpc.InvalidArgument || len(e.Violations) != 1 {
			t.Errorf("%s: the error is %v", field, err)
			continue
		}
		if diff := cmp.Diff(field, e.Violations[0].Field); diff != "" {
			t.Error(diff)
		}
	}
}

func TestExamplesAreWhatAShellTakes(t *testing.T) {
	for _, test := range []struct {
		m             *rpc.Method
		message, want string
	}{
		{conformance.Echo, `{"failMessage":"it's"}`, `curl -H 'Content-Type: application/json' -d '{"failMessage":"it'\''s"}' http://h/v1/echo`},
		{conformance.Find, `{"name":"a b"}`, `curl http://h/v1/items/a%20b/levels/0`},
		{conformance.Find, `{"name":"a","pageSize":"5","tags":["it's"]}`, `curl 'http://h/v1/items/a/levels/0?pageSize=5&tags=it%27s'`},
		{conformance.Amend, `{"name":"a","item":{"text":"b"}}`,
			`curl -X PUT -H 'Content-Type: application/json' -d '{"item":{"text":"b"}}' http://h/v1/items/a`},
		{conformance.Find, `{}`, ""},
	} {
		if got := rest.New().Example(test.m, "http://h", test.message, options(t)); got != test.want {
			t.Errorf("%s of %s is\n%s, want\n%s", test.m.Name, test.message, got, test.want)
		}
	}
}
