package workload_test

import (
	"encoding/base64"
	"testing"

	"github.com/tare-bench/tare/workload"
)

func TestATokenIsOfTheListThatGaveIt(t *testing.T) {
	good := workload.PageToken(5, "ada")
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	raw[0]++
	if number, ok := workload.PageNumber(good, "ada"); number != 5 || !ok {
		t.Errorf("a good one gave %d, %t", number, ok)
	}
	for name, token := range map[string]string{
		"none":               "",
		"text":               "next",
		"padded":             good + "=",
		"longer":             good + "AA",
		"shorter":            good[:len(good)-2],
		"of another user":    workload.PageToken(5, "bob"),
		"of all users":       workload.PageToken(5, ""),
		"of another kind":    workload.PageToken(5, "ada", "visit"),
		"of another version": base64.RawURLEncoding.EncodeToString(raw),
		"of no record":       workload.PageToken(0, "ada"),
		"negative":           workload.PageToken(-5, "ada"),
		"altered at its end": good[:len(good)-1] + string(good[len(good)-1]+1),
	} {
		if number, ok := workload.PageNumber(token, "ada"); ok {
			t.Errorf("a token that is %s gave %d", name, number)
		}
	}
}

// FuzzPageToken: what is no token of ours is refused, and never panics.
func FuzzPageToken(f *testing.F) {
	f.Add(workload.PageToken(1, "ada"), "ada")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, token, user string) {
		number, ok := workload.PageNumber(token, user)
		if ok && workload.PageToken(number, user) != token {
			t.Errorf("%q was taken, which is not that of record %d", token, number)
		}
	})
}
