package report_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
	"github.com/tare-bench/tare/stats"
)

func TestBoundsAreReadAsTheyAreTyped(t *testing.T) {
	for text, want := range map[string]struct {
		stack, over, metric string
		compare             stats.Comparator
		limit               float64
		shown               string
	}{
		"grpc+proto.latency_p99 > 20ms":             {"grpc+proto", "", "latency_p99", stats.Above, 0.02, "20 ms"},
		"grpc+proto.latency_p99>=20 ms":             {"grpc+proto", "", "latency_p99", stats.AtLeast, 0.02, "20 ms"},
		" a+b.latency_p50 < 0.5s ":                  {"a+b", "", "latency_p50", stats.Below, 0.5, "0.5 s"},
		"a+b.server_cpu_per_call <= 120us":          {"a+b", "", "server_cpu_per_call", stats.AtMost, 120e-6, "120 us"},
		"a+b.server_cpu_per_call <= 120µs":          {"a+b", "", "server_cpu_per_call", stats.AtMost, 120e-6, "120 µs"},
		"a+b.driver_cpu_per_call > 900ns":           {"a+b", "", "driver_cpu_per_call", stats.Above, 900e-9, "900 ns"},
		"rest+json@http=1.1.throughput < 2000":      {"rest+json@http=1.1", "", "throughput", stats.Below, 2000, "2000"},
		"rest+json@http=2#2.errors > 0":             {"rest+json@http=2#2", "", "errors", stats.Above, 0, "0"},
		"a+b.throughput < 2000 calls/s":             {"a+b", "", "throughput", stats.Below, 2000, "2000 calls/s"},
		"a+b.bytes_sent_per_call > 1.5kB":           {"a+b", "", "bytes_sent_per_call", stats.Above, 1500, "1.5 kB"},
		"a+b.server_peak_rss > 80 MB":               {"a+b", "", "server_peak_rss", stats.Above, 80e6, "80 MB"},
		"grpc+proto/rest+json.throughput < 1.2":     {"grpc+proto", "rest+json", "throughput", stats.Below, 1.2, "1.2"},
		"grpc+proto/rest+json.throughput < 1.2x":    {"grpc+proto", "rest+json", "throughput", stats.Below, 1.2, "1.2x"},
		"a+b/a+b@http=1.1.latency_p99 >= 90 %":      {"a+b", "a+b@http=1.1", "latency_p99", stats.AtLeast, 0.9, "90 %"},
		"a+b@x=1.5/a+b@http=1.1.latency_p50 > 150%": {"a+b@x=1.5", "a+b@http=1.1", "latency_p50", stats.Above, 1.5, "150 %"},
	} {
		got, err := report.ParseBound(text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got.Stack != want.stack || got.Over != want.over || got.Metric.Name != want.metric || got.Compare != want.compare ||
			math.Abs(got.Limit-want.limit) > 1e-12 || got.Shown != want.shown || got.Typed != strings.TrimSpace(text) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestBoundsThatCannotBeReadSayWhatIsMissing(t *testing.T) {
	for text, want := range map[string]string{
		"":                                          "it compares nothing",
		"a+b.latency_p99":                           "it compares nothing",
		"a+b.latency_p99 = 20ms":                    "it compares nothing",
		"latency_p99 > 20ms":                        `"latency_p99" is not STACK.METRIC`,
		"a+b.latency_p98 > 20ms":                    `unknown metric "latency_p98"; there is server_cpu_per_call, `,
		"a+b@http=1.1 > 20ms":                       `unknown metric "1"`,
		".latency_p99 > 20ms":                       "is not a stack",
		"a+b/.throughput > 2":                       "is not a stack",
		"/a+b.throughput > 2":                       "is not a stack",
		"a+b/a+b.throughput > 2":                    "is not a stack",
		"a+b/c+d/e+f.throughput > 2":                "is not a stack",
		"a +b.throughput > 2":                       "is not a stack",
		"a+b/c+d.errors > 2":                        "errors is counted and not compared",
		"a+b/c+d.latency_max > 2":                   "latency_max is counted and not compared",
		"a+b.latency_p99 > 20":                      `has no unit; it takes a number ns, a number µs, a number ms, a number s, a number us`,
		"a+b.latency_p99 > 20kB":                    `unknown unit "kB"`,
		"a+b.latency_p99 > 20 %":                    `unknown unit "%"`,
		"a+b.bytes_sent_per_call > 20":              `has no unit; it takes a number B, `,
		"a+b.throughput > 20ms":                     `unknown unit "ms"; it takes a number alone, a number calls/s`,
		"a+b/c+d.latency_p99 > 20ms":                `unknown unit "ms"; it takes a number alone, a number x, a number %`,
		"a+b.errors > 1%":                           `unknown unit "%"`,
		"a+b.throughput > ":                         "does not begin with a number",
		"a+b.throughput > fast":                     "does not begin with a number",
		"a+b.throughput > -5":                       "does not begin with a number",
		"a+b.throughput > 1.2.3":                    "does not begin with a number",
		"a+b.throughput >> 5":                       "does not begin with a number",
		"a+b.throughput > 5 < 6":                    `unknown unit "< 6"`,
		"a+b.throughput > inf":                      "does not begin with a number",
		"a+b.errors > 1" + strings.Repeat("0", 400): "does not begin with a number",
	} {
		if got, err := report.ParseBound(text); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "bound ") {
			t.Errorf("%q: got %+v, %v; want %q", text, got, err, want)
		}
	}
}

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// FuzzParseBound holds that whatever is read is a bound on something, and is
// read as the same once more.
func FuzzParseBound(f *testing.F) {
	for _, seed := range []string{
		"grpc+proto.latency_p99 > 20ms", "a+b/c+d@http=1.1#2.throughput<=1.2x", "a.errors>0", "a/b.latency_p50 >= 90%", "<", "a. > ", "..>1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := report.ParseBound(text)
		if err != nil {
			return
		}
		if b.Stack == "" || b.Metric == nil || b.Compare == "" || !(b.Limit >= 0) || math.IsInf(b.Limit, 0) || b.Shown == "" {
			t.Fatalf("%q is read as %+v", text, b)
		}
		target := b.Stack
		if b.Over != "" {
			target += "/" + b.Over
		}
		again, err := report.ParseBound(target + "." + b.Metric.Name + string(b.Compare) + b.Shown)
		again.Typed = b.Typed
		if err != nil || again != b {
			t.Fatalf("%q is read as %+v, and that as %+v, %v", text, b, again, err)
		}
	})
}

// judged is the stored run's document with bounds.
func judged(t *testing.T, change func(*record.Run), words ...string) *report.Document {
	t.Helper()
	run := simulated()
	change(run)
	a, err := stats.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	var set []stats.Bound
	for _, w := range words {
		b, err := report.ParseBound(w)
		if err != nil {
			t.Fatal(err)
		}
		set = append(set, b)
	}
	outcomes, err := a.Check(set)
	if err != nil {
		t.Fatal(err)
	}
	d := report.New(a)
	d.Bounds = report.Judged(outcomes, a.Run.Header)
	return d
}

func TestBoundsAreToldAsSentences(t *testing.T) {
	asItIs := func(*record.Run) {}
	for _, c := range []struct {
		bound, want string
		change      func(*record.Run)
	}{
		{"grpc+proto.latency_p50 > 1us", `^grpc\+proto\.latency_p50 is 1\.\d+ ms \(0\.9\d+ to 1\.\d+\), above 1 us$`, asItIs},
		{"grpc+proto.latency_p50 <= 2s", `^grpc\+proto\.latency_p50 is 1\.\d+ ms \(0\.9\d+ to 1\.\d+\), at or below 2 s$`, asItIs},
		{"grpc+proto/rest+json.throughput < 0.5", `^grpc\+proto/rest\+json\.throughput is 1\.\d+x \(1\.\d+ to 2\.\d+\), not below 0\.5$`, asItIs},
		{"grpc+proto/rest+json.throughput < 1.44x", `^grpc\+proto/rest\+json\.throughput is 1\.\d+x \(1\.\d+ to 2\.\d+\): the interval holds 1\.44x$`, asItIs},
		{"grpc+proto/grpc+json.bytes_sent_per_call >= 50%", `^grpc\+proto/grpc\+json\.bytes_sent_per_call is 0\.54x, at or above 50 %$`, asItIs},
		{"grpc+json.errors > 0", `^grpc\+json\.errors is 2, above 0$`, asItIs},
		{"rest+json.throughput < 2000", `^rest\+json\.throughput is [\d,]+ calls/s \([\d,]+ to [\d,]+\), not below 2000$`, asItIs},
		{"rest+json.throughput < 2000", `^rest\+json\.throughput is unknown: too few blocks gave a result`, func(r *record.Run) { r.Trials = r.Trials[:40] }},
		{"rest+json.throughput < 2000", `^rest\+json\.throughput is withheld: 50 % of the calls of rest\+json failed$`, func(r *record.Run) {
			for i := range r.Trials {
				if l := r.Trials[i].Load; r.Trials[i].Scenario == 0 {
					l.Errors = map[string]int{"reset": l.Calls / 2}
				}
			}
		}},
	} {
		if got := judged(t, c.change, c.bound).Bounds[0].Sentence; !matches(c.want, got) {
			t.Errorf("%s: %q, want %s", c.bound, got, c.want)
		}
	}
}

func TestEveryFormatShowsBounds(t *testing.T) {
	d := judged(t, func(*record.Run) {}, "grpc+json.errors > 0", "rest+json.latency_p50 > 1s", "grpc+proto/rest+json.throughput < 1.44")
	for _, c := range []struct {
		render report.Renderer
		want   []string
	}{
		{text.Renderer{Width: 120}, []string{
			"fail if", `grpc\+json\.errors > 0 +2 +broken`, `rest\+json\.latency_p50 > 1s .* kept`, `throughput < 1\.44 .* not decided`,
		}},
		{markdown.Renderer{}, []string{`\*\*fail if\*\*`, `\| grpc\+json\.errors &gt; 0 \| 2 \| broken \|`}},
		{json.Renderer{}, []string{`"bound": "grpc\+json\.errors > 0"`, `"outcome": "broken"`, `"outcome": "not decided"`, `"limit": 1\.44`}},
	} {
		out := render(t, c.render, d)
		for _, want := range c.want {
			if !matches(want, out) {
				t.Errorf("%T lacks %s:\n%s", c.render, want, out)
			}
		}
	}
	if out := render(t, text.Renderer{Width: 120}, judged(t, func(*record.Run) {})); strings.Contains(out, "fail if") {
		t.Error("a table of bounds where none was set")
	}
}
