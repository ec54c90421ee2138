package fhir

import (
	"strings"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

func (c *converter) dosage(path string, d *dosage) clinical.Dosage {
	c.refuse(path+".modifierExtension", d.ModifierExtension)
	c.losses.rest("dosage", d.Rest)
	out := clinical.Dosage{
		Sequence: d.Sequence, Text: d.Text, PatientInstruction: d.PatientInstruction, AsNeeded: d.AsNeededBoolean,
		Route: c.concept("dosage.route", d.Route), Timing: c.timing(path+".timing", d.Timing),
	}
	if len(d.AsNeededConcept) > 0 { // for what it is needed has no field
		out.AsNeeded = true
		c.losses.add("dosage.asNeededCodeableConcept", 1)
	}
	for i := range d.DoseAndRate {
		each := &d.DoseAndRate[i]
		c.losses.rest("dosage.doseAndRate", each.Rest)
		switch {
		case each.DoseQuantity == nil:
		case out.DoseQuantity == nil:
			out.DoseQuantity = c.quantity(item(path+".doseAndRate", i)+".doseQuantity", each.DoseQuantity)
		default:
			c.losses.add("dosage.doseAndRate(beyond the first)", 1)
		}
	}
	return out
}

func (c *converter) timing(path string, t *timing) *clinical.Timing {
	if t == nil {
		return nil
	}
	c.refuse(path+".modifierExtension", t.ModifierExtension)
	c.losses.rest("dosage.timing", t.Rest)
	if t.Repeat == nil {
		return nil
	}
	r := t.Repeat
	c.losses.rest("dosage.timing.repeat", r.Rest)
	out := &clinical.Timing{Frequency: r.Frequency, PeriodUnit: r.PeriodUnit, When: r.When}
	out.Period = c.decimal(path+".repeat.period", r.Period)
	if out.Frequency == 0 && out.Period == "" && out.PeriodUnit == "" && len(out.When) == 0 {
		return nil
	}
	return out
}

func (c *converter) quantity(path string, q *quantity) *clinical.Quantity {
	c.losses.rest("dosage.doseAndRate.doseQuantity", q.Rest)
	if q.Comparator != "" {
		c.fail(path+".comparator", "is %q, and a statement can only say how much exactly", q.Comparator)
	}
	if q.Value.text == "" {
		c.fail(path+".value", "is missing")
	}
	return &clinical.Quantity{Value: c.decimal(path+".value", q.Value), Unit: q.Unit, System: q.System, Code: q.Code}
}

// decimal gives a number as it was written. One with an exponent is written out,
// with the digits that it has.
func (c *converter) decimal(path string, d decimal) string {
	plain, ok := withoutExponent(d.text)
	if !ok {
		c.fail(path, "is %s, which has more than 17 digits before or behind the point", shortened(d.text))
	}
	return plain
}

// mostDigits is how many a decimal may have on each side of its point, by the
// rules of the schema; FHIR asks of readers for 18 in all.
const mostDigits = 17

func withoutExponent(number string) (string, bool) {
	at := strings.IndexAny(number, "eE")
	if at < 0 {
		return number, true // the rules say how long it may be
	}
	digits := number[:at]
	exponent, negative := 0, false
	for _, r := range number[at+1:] {
		switch r {
		case '+':
		case '-':
			negative = true
		default:
			exponent = min(exponent*10+int(r-'0'), 1000)
		}
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	whole, behind, _ := strings.Cut(digits, ".")
	if exponent > 2*mostDigits || len(digits) > 2*mostDigits {
		return number, false
	}
	if negative {
		for range exponent {
			last := "0"
			if len(whole) > 0 {
				whole, last = whole[:len(whole)-1], whole[len(whole)-1:]
			}
			behind = last + behind
		}
	} else {
		for range exponent {
			next := "0"
			if behind != "" {
				next, behind = behind[:1], behind[1:]
			}
			whole += next
		}
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if len(whole) > mostDigits || len(behind) > mostDigits {
		return number, false
	}
	if behind == "" {
		return sign + whole, true
	}
	return sign + whole + "." + behind, true
}

// shortened keeps errors on one line.
func shortened(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
