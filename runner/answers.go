package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tare-bench/tare/peer"
)

// AnswerError says that contenders' answers are wrong, or not the same, so that
// to time them would compare unequal work.
type AnswerError struct{ Text string }

func (e *AnswerError) Error() string { return e.Text }

// probeTrips is how many round trips of a link a workload's probes take, and more:
// some twenty, each perhaps on a new connection.
const probeTrips = 100

// checkAnswers has every contender make the workload's probes, and holds the
// replies against the workload's own check and against each other.
func checkAnswers(ctx context.Context, all []*contender) error {
	var first []peer.Answer
	for i, c := range all {
		within := answerGrace + c.plan.Timeout + probeTrips*c.plan.RoundTrip() // a driver stops at the first probe that gets no answer
		r, err := c.driver().ask(ctx, peer.Request{Probe: true}, within)
		if err != nil {
			return fmt.Errorf("check answers: %w", err)
		}
		if err := c.alive(); err != nil {
			return fmt.Errorf("check answers: %w", err)
		}
		if r.Payload != nil {
			c.payload = *r.Payload
		}
		for _, a := range r.Probe {
			if a.Unanswered {
				return &StallError{fmt.Sprintf("%s gives no answer (%s): %s %s", c.scenario.Name, a.Call, a.Code, a.Message)}
			}
			if a.Wrong != "" {
				return &AnswerError{fmt.Sprintf("%s answers wrongly (%s): %s", c.scenario.Name, a.Call, a.Wrong)}
			}
		}
		if i == 0 {
			first = r.Probe
			continue
		}
		if text := difference(all[0].scenario.Name, c.scenario.Name, first, r.Probe); text != "" {
			return &AnswerError{text}
		}
	}
	return nil
}

// difference says where two contenders' answers part, or "".
func difference(nameA, nameB string, a, b []peer.Answer) string {
	if len(a) != len(b) {
		return fmt.Sprintf("%s answered %d probes and %s %d", nameA, len(a), nameB, len(b))
	}
	for i := range a {
		if !sameAnswer(a[i], b[i]) {
			return fmt.Sprintf("%s and %s do not give the same answer (%s): %s says %s; %s says %s",
				nameA, nameB, a[i].Call, nameA, spell(a[i]), nameB, spell(b[i]))
		}
	}
	return ""
}

func sameAnswer(a, b peer.Answer) bool {
	if a.Code != b.Code || a.Message != b.Message || len(a.Replies) != len(b.Replies) {
		return false
	}
	for i := range a.Replies {
		if !sameJSON(a.Replies[i], b.Replies[i]) {
			return false
		}
	}
	return true
}

// sameJSON compares values, so that neither white space nor the order of keys
// counts; numbers are compared digit by digit.
func sameJSON(a, b string) bool {
	var va, vb any
	if parse(a, &va) != nil || parse(b, &vb) != nil {
		return a == b
	}
	return reflect.DeepEqual(va, vb)
}

func parse(text string, into *any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

func spell(a peer.Answer) string {
	const enough = 300
	text := strings.TrimSpace(a.Code + " " + a.Message + " " + strings.Join(a.Replies, " "))
	if len(text) > enough {
		text = text[:enough] + "…"
	}
	return text
}
