package stats

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tare-bench/tare/record"
)

// Bounds of the rules below.
const (
	mostCrowding = 1.1 // calls in flight for each that the connections are good for
	mostShrink   = 20  // times smaller by gzip; JSON of real records comes to 7
)

// setup is one stack as it was built and loaded, which rules of unfairness look
// at; what it did is in its evidence.
type setup struct {
	*evidence
	a        *arranged
	scenario int
}

// unfair are the rules on how stacks were built, each of one stack.
var unfair = []struct {
	code string
	look func(setup) (text, remedy string)
}{
	{"narrow_pool", setup.narrowPool},
	{"compressed_on_one_side", setup.compressedAlone},
	{"named_address", setup.namedAddress},
}

// unfairness looks at how the stacks of a run were built and what they carried.
func (a *arranged) unfairness(all []*evidence) (warnings, notes []Finding) {
	for s, e := range all {
		scenario := a.run.Header.Scenarios[s]
		for _, r := range unfair {
			if text, remedy := r.look(setup{e, a, s}); text != "" {
				warnings = append(warnings, Finding{r.code, scenario.Name, text, remedy})
			}
		}
		if scenario.Remark != "" {
			notes = append(notes, Finding{"remark", scenario.Name, scenario.Remark, ""})
		}
	}
	if text := a.tooEven(); text != "" {
		warnings = append(warnings, Finding{Code: "even_payload", Text: text, Remedy: "send data such as your users do"})
	}
	if text, remedy := a.httpDiffers(); text != "" {
		notes = append(notes, Finding{Code: "http_differs", Text: text, Remedy: remedy})
	}
	return warnings, notes
}

// narrowPool holds the calls in flight against what the connections are good
// for. What is above waits at the client: the stack is charged with its pool.
func (s setup) narrowPool() (text, remedy string) {
	h := s.a.run.Header
	t := h.Scenarios[s.scenario].Transport
	if t == nil || t.Conns == 0 || t.CallsPerConn == 0 {
		return "", ""
	}
	inFlight, conns := s.a.meanInFlight(s.scenario), t.Conns
	// Where all calls in flight are the stack's own, a client that keeps less
	// than half of what they need was seen never to have needed it, or to be
	// unable to.
	if open := s.a.openConns(s.scenario); open > 0 && driverVaries(h) && float64(2*open*t.CallsPerConn) < inFlight {
		conns = open
	}
	good := conns * t.CallsPerConn
	if inFlight <= mostCrowding*float64(good) {
		return "", ""
	}
	needed := (h.InFlight + t.CallsPerConn - 1) / t.CallsPerConn
	return fmt.Sprintf("has %s, good for %s at a time, and %.0f are in flight: they wait for one another before they reach the server",
			Counted(conns, "connection"), Counted(good, "call"), inFlight),
		fmt.Sprintf("let it keep %s, or lower --in-flight to %d; if that is how it will run, say so beside the result",
			Counted(needed, "connection"), good)
}

// meanInFlight is set in a closed loop. In an open one it follows from the time
// that calls were under way (Little's law).
func (a *arranged) meanInFlight(scenario int) float64 {
	if a.run.Header.Rate == 0 {
		return float64(a.run.Header.InFlight)
	}
	var busy, window float64
	a.each(scenario, func(t *record.Trial) { busy, window = busy+t.Load.BusyS, window+t.Load.WindowS })
	if window == 0 {
		return 0
	}
	return busy / window
}

// openConns is the most that were open after a trial.
func (a *arranged) openConns(scenario int) int {
	var most int64
	a.each(scenario, func(t *record.Trial) { most = max(most, t.Wire.Open, t.WireFar.Open) })
	return int(most)
}

// compressedAlone finds a stack that differs from the baseline in its compressor
// and in more, where no cell of the run tells the two apart.
func (s setup) compressedAlone() (text, remedy string) {
	h := s.a.run.Header
	this, base := h.Scenarios[s.scenario], h.Scenarios[s.a.baseline()]
	ours, theirs := this.Factors[axisCompressor], base.Factors[axisCompressor]
	if ours == theirs {
		return "", ""
	}
	held := func(of record.Scenario, compressor string) bool {
		want := maps.Clone(of.Factors)
		want[axisCompressor] = compressor
		return slices.ContainsFunc(h.Scenarios, func(o record.Scenario) bool { return maps.Equal(o.Factors, want) })
	}
	if held(this, theirs) || held(base, ours) {
		return "", ""
	}
	return fmt.Sprintf("has %s=%s (%.0f bytes a call) and %s has %s=%s (%.0f): this run does not say what of their difference is the compressor's",
			axisCompressor, ours, s.a.bytesPerCall(s.scenario), base.Name, axisCompressor, theirs, s.a.bytesPerCall(s.a.baseline())),
		"compress both alike, or add to --stacks one of the two as the other compresses"
}

func (a *arranged) bytesPerCall(scenario int) float64 {
	var sum, calls float64
	a.each(scenario, func(t *record.Trial) {
		sum += float64(t.Wire.Sent + t.Wire.Received)
		calls += float64(t.Load.Calls)
	})
	if calls == 0 {
		return 0
	}
	return sum / calls
}

// namedAddress finds servers that callers reach by a name, such as "localhost",
// which may stand for an address of IPv6 that is tried first.
func (s setup) namedAddress() (text, remedy string) {
	named, servers, first := 0, 0, ""
	for _, b := range s.a.run.Blocks {
		if s.scenario >= len(b.Peers) {
			continue
		}
		for _, p := range b.Peers[s.scenario] {
			if p.Addr == "" {
				continue
			}
			servers++
			if isNamed(p.Addr) {
				named++
				if first == "" {
					first = p.Addr
				}
			}
		}
	}
	if named == 0 {
		return "", ""
	}
	return fmt.Sprintf("is reached by a name (%s) at %s: a connection may try another address first, of IPv6",
		first, shareOf(named, servers, "server")), "have it say a numeric address, such as 127.0.0.1"
}

// isNamed says whether the host of HOST:PORT is a name and no IP address. One
// without a port is neither.
func isNamed(addr string) bool {
	at := strings.LastIndexByte(addr, ':')
	if at < 0 {
		return false
	}
	host := strings.Trim(addr[:at], "[]")
	return !strings.Contains(host, ":") && strings.ContainsFunc(host, unicode.IsLetter)
}

// tooEven says that gzip shrinks the calls' messages more than anyone's data. The
// stack that it shrinks least tells: field names shrink well in any data.
func (a *arranged) tooEven() string {
	sums := make([]record.Payload, len(a.run.Header.Scenarios))
	for _, b := range a.run.Blocks {
		for s := range min(len(sums), len(b.Payloads)) {
			sums[s].Messages += b.Payloads[s].Messages
			sums[s].Bytes += b.Payloads[s].Bytes
			sums[s].Gzipped += b.Payloads[s].Gzipped
		}
	}
	least := 0.0
	for _, p := range sums {
		if p.Gzipped > 0 {
			if by := float64(p.Bytes) / float64(p.Gzipped); least == 0 || by < least {
				least = by
			}
		}
	}
	if least <= mostShrink {
		return ""
	}
	return fmt.Sprintf("gzip makes the calls' messages %.0f times smaller: no user's data is so even, and compressors and caches flatter it", least)
}

// httpDiffers names the stacks that are carried over another version of HTTP
// than the baseline, where no cell of the run tells what that is worth.
func (a *arranged) httpDiffers() (text, remedy string) {
	h := a.run.Header
	base := h.Scenarios[a.baseline()]
	if base.Transport == nil || base.Transport.HTTP == "" {
		return "", ""
	}
	var apart []string
	var other record.Transport // of the first
	for _, s := range h.Scenarios {
		if s.Transport == nil || s.Transport.HTTP == "" || s.Transport.HTTP == base.Transport.HTTP ||
			a.carried(s, base.Transport.HTTP) || a.carried(base, s.Transport.HTTP) {
			continue
		}
		if len(apart) == 0 {
			other = *s.Transport
		}
		apart = append(apart, s.Name)
	}
	if len(apart) == 0 {
		return "", ""
	}
	switch {
	case base.Transport.HTTPBy != "":
		remedy = fmt.Sprintf("add %s@%s=%s to --stacks", base.Stack, base.Transport.HTTPBy, other.HTTP)
	case other.HTTPBy != "":
		remedy = fmt.Sprintf("add it to --stacks with @%s=%s too", other.HTTPBy, base.Transport.HTTP)
	}
	return fmt.Sprintf("HTTP/%s carries %s and HTTP/%s carries %s: this run does not say what of their difference is the version's",
		other.HTTP, strings.Join(apart, ", "), base.Transport.HTTP, base.Name), remedy
}

// carried says whether the run has a stack like this one over a version of HTTP.
func (a *arranged) carried(like record.Scenario, http string) bool {
	return slices.ContainsFunc(a.run.Header.Scenarios, func(s record.Scenario) bool {
		if s.Transport == nil || s.Transport.HTTP != http {
			return false
		}
		return !slices.ContainsFunc(axes, func(axis string) bool { return s.Factors[axis] != like.Factors[axis] })
	})
}

// spoilers are rules that withhold what they make meaningless. Where the driver
// limits, the pace is the driver's, and so are the latencies of a closed loop,
// which are its inverse (Little's law). Where a stack is saturated, its latencies
// grow for as long as a trial lasts. CPU by the call means the same in both.
var spoilers = []struct {
	code   string
	spoils func(record.Header, *Metric) bool
	enough func(*evidence) bool // to spoil, once the rule is broken
	says   string               // with the scenario and what the rule says
}{
	{
		"driver_limits", func(h record.Header, m *Metric) bool {
			return h.Driver == record.Lean && h.Rate == 0 && (m.Kind == Quantile || m.Name == "throughput")
		},
		func(*evidence) bool { return true }, "with %s %s",
	},
	{
		"saturated", func(h record.Header, m *Metric) bool { return h.Rate > 0 && m.Kind == Quantile },
		func(e *evidence) bool {
			return float64(e.tally.NotStarted) > mostErrors*float64(e.tally.NotStarted+e.tally.Calls)
		}, "%s %s",
	},
}

// spoilt says why a metric of a scenario tells nothing, or "".
func (a *arranged) spoilt(m *Metric, scenario int) string {
	for _, sp := range spoilers {
		if !sp.spoils(a.run.Header, m) {
			continue
		}
		e := gather(a, scenario, a.tally(scenario))
		at := slices.IndexFunc(rules, func(r rule) bool { return r.code == sp.code })
		if text, _ := rules[at].look(e); text != "" && sp.enough(e) {
			text, _, _ = strings.Cut(text, ":")
			return fmt.Sprintf(sp.says, a.run.Header.Scenarios[scenario].Name, text)
		}
	}
	return ""
}
