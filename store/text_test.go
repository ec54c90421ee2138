package store

import (
	"errors"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRedact(t *testing.T) {
	for address, want := range map[string]string{
		"memory":                         "memory",
		"sqlite:/var/lib/a@b:c.db":       "sqlite:/var/lib/a@b:c.db",
		"postgres://host/db":             "postgres://host/db",
		"postgres://user@host:5432/db":   "postgres://user@host:5432/db",
		"postgres://user:hunter2@host/d": "postgres://user:xxxxx@host/d",
		"postgres://user:hunt%40er2@host/d?application_name=a@b": "postgres://user:xxxxx@host/d?application_name=a@b",
		"postgres://user:hunter2@h1:1,h2:2/d":                    "postgres://user:xxxxx@h1:1,h2:2/d",
		"postgres://user:hun/ter#2@host/d":                       "postgres://user:xxxxx@host/d",
		"postgres://user:hun@ter%2@host/d":                       "postgres://user:xxxxx@host/d",
		"postgres:///d?host=/tmp&password=hunter2&user=u":        "postgres:///d?host=/tmp&password=xxxxx&user=u",
		"postgres:///d?sslpassword=hunter2":                      "postgres:///d?sslpassword=xxxxx",
		"postgres:///d?PASSWORD=hunter2":                         "postgres:///d?PASSWORD=xxxxx",
	} {
		if got := Redact(address); got != want {
			t.Errorf("Redact(%q) = %q; want %q", address, got, want)
		}
	}
}

func TestNameApart(t *testing.T) {
	form := regexp.MustCompile(`^[a-z0-9_-]{1,63}$`)
	rapid.Check(t, func(t *rapid.T) {
		name, other := rapid.String().Draw(t, "name"), rapid.String().Draw(t, "other")
		got := NameApart(name)
		if !form.MatchString(got) {
			t.Fatalf("NameApart(%q) = %q", name, got)
		}
		if name != other && got == NameApart(other) {
			t.Fatalf("%q and %q are both %q", name, other, got)
		}
	})
	long := strings.Repeat("long", 30)
	for _, names := range [][2]string{{"rest+json", "rest-json"}, {"A", "a"}, {long, long + "er"}, {"ä", "ö"}} {
		if NameApart(names[0]) == NameApart(names[1]) {
			t.Errorf("%q and %q have one name", names[0], names[1])
		}
	}
	if got := NameApart("b0-rest_json"); got != "b0-rest_json" {
		t.Errorf("a name that needs no change is %q", got)
	}
}

func TestLinesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.Custom(func(t *rapid.T) OrderLine {
			return OrderLine{
				SKU: rapid.String().Draw(t, "sku"), Title: rapid.String().Draw(t, "title"),
				Quantity: rapid.Int32().Draw(t, "quantity"), UnitPriceMinor: rapid.Int64().Draw(t, "price"),
			}
		})).Draw(t, "lines")
		text, err := FormatLines(lines)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseLines(text)
		if err != nil || len(got) != len(lines) || len(got) > 0 && !reflect.DeepEqual(got, lines) {
			t.Fatalf("%s gives %+v, %v; want %+v", text, got, err, lines)
		}
	})
	text, err := FormatLines([]OrderLine{{"<&>", "\u2028é", math.MinInt32, math.MaxInt64}})
	if want := `[{"sku":"<&>","title":"\u2028é","quantity":-2147483648,"unit_price_minor":9223372036854775807}]`; err != nil || text != want {
		t.Errorf("FormatLines = %s, %v; want %s", text, err, want)
	}
	if _, err := ParseLines("{"); err == nil {
		t.Error("ParseLines of nonsense gives no error")
	}
}

func TestCheckText(t *testing.T) {
	for _, bad := range []string{"\x00", "a\x00b", "\xff", "\xed\xa0\x80"} {
		for _, o := range []Order{{ID: bad}, {User: bad}, {Total: Money{Currency: bad}}, {Lines: []OrderLine{{SKU: bad}}}, {Lines: []OrderLine{{}, {Title: bad}}}} {
			if err := o.CheckText(); !errors.Is(err, ErrInvalid) {
				t.Errorf("CheckText of %+v: %v; want ErrInvalid", o, err)
			}
		}
	}
	if err := (&Order{ID: "a", User: "é\n\u2028\U0010ffff", Lines: []OrderLine{{}}}).CheckText(); err != nil {
		t.Error(err)
	}
}
