package ndjson_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/tare-bench/tare/workload/statements/ndjson"
	"github.com/tare-bench/tare/workload/statements/records"
)

func TestThereAndBackNothingChanges(t *testing.T) {
	for i := range 2000 {
		want := records.Statement(2, i)
		line, err := ndjson.Append([]byte("x"), want)
		if err != nil || line[0] != 'x' || bytes.ContainsRune(line, '\n') {
			t.Fatalf("record %d is %q: %v", i, line, err)
		}
		if got, id, err := ndjson.Parse(line[1:]); err != nil || id != want.StatementID || !reflect.DeepEqual(got, want) {
			t.Fatalf("record %d reads as %+v, %v", i, got, err)
		}
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct{ line, id, want string }{
		{`{"statementId":"a","statu":"x"}`, "a", `column 20: unknown field "statu"`},
		{`{"statementId":"a","status":"x"}`, "a", `column 29: invalid value for enum field status: "x"`},
		{`{"statementId":"a","dosage":[{"sequence":1.5}]}`, "a", "column 42: invalid value for int32 field sequence"},
		{`{"statementId":"a"`, "", "unexpected EOF"},
		{`{"statementId":"a"} {}`, "", "column 21: unexpected token {"},
		{`{"statementId":"a","statementId":"b"}`, "b", `column 20: duplicate field "statementId"`},
		{`7`, "", "column 1: unexpected token 7"},
	} {
		_, id, err := ndjson.Parse([]byte(c.line))
		if err == nil || id != c.id || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: ID %q, %v, and not %s", c.line, id, err, c.want)
		}
	}
	// Names as in the schema, and numbers of enums, are ProtoJSON too.
	if s, _, err := ndjson.Parse([]byte(`{"statement_id":"a","status":2}`)); err != nil || s.StatementID != "a" || s.Status != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("y", 100)
	var got []string
	err := ndjson.Lines(bufio.NewReaderSize(strings.NewReader("a\r\n\n "+long+" \nb"), 16), func(n int64, line []byte) error {
		got = append(got, fmt.Sprint(n, string(line)))
		return nil
	})
	if want := []string{"1a", "3" + long, "4b"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	endless := bufio.NewReader(io.MultiReader(strings.NewReader("a\n"), zeros{}))
	if err := ndjson.Lines(endless, func(int64, []byte) error { return nil }); !errors.Is(err, ndjson.ErrTooLong) {
		t.Errorf("an endless line: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func FuzzParse(f *testing.F) {
	line, err := ndjson.Append(nil, records.Statement(1, 0))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Fuzz(func(t *testing.T, line []byte) {
		s, _, err := ndjson.Parse(line)
		if err != nil {
			return
		}
		text, err := ndjson.Append(nil, s)
		if err != nil { // an enum's number without a name, a year beyond 9999
			return
		}
		if again, _, err := ndjson.Parse(text); err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%q is another once written: %q, %v", line, text, err)
		}
	})
}
