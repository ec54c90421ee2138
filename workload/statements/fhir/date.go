package fhir

import (
	"fmt"
	"regexp"
	"time"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// layouts are FHIR's ways to write a dateTime, by how much of it is known.
var layouts = map[clinical.DatePrecision]string{
	clinical.PrecisionYear:        "2006",
	clinical.PrecisionMonth:       "2006-01",
	clinical.PrecisionDay:         "2006-01-02",
	clinical.PrecisionSecond:      "2006-01-02T15:04:05Z07:00",
	clinical.PrecisionMillisecond: "2006-01-02T15:04:05.000Z07:00",
}

// written is the pattern of a dateTime in hl7.org/fhir/R4/datatypes.html#dateTime,
// since time.Parse takes more.
var written = regexp.MustCompile(`^[0-9]{4}(-[0-9]{2}(-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00)))?)?)?$`)

// parseDate reads a dateTime of FHIR; lost says that digits below the
// millisecond were cut off.
func parseDate(text string) (d *clinical.DateTime, lost bool, err error) {
	d = new(clinical.DateTime)
	switch len(text) {
	case len("2006"):
		d.Precision = clinical.PrecisionYear
	case len("2006-01"):
		d.Precision = clinical.PrecisionMonth
	case len("2006-01-02"):
		d.Precision = clinical.PrecisionDay
	default:
		d.Precision = clinical.PrecisionSecond
		if len(text) > len("2006-01-02T15:04:05") && text[len("2006-01-02T15:04:05")] == '.' {
			d.Precision = clinical.PrecisionMillisecond
		}
	}
	layout := layouts[d.Precision]
	if d.Precision == clinical.PrecisionMillisecond {
		layout = layouts[clinical.PrecisionSecond] // which takes any number of digits
	}
	t, err := time.Parse(layout, text)
	if err != nil || !written.MatchString(text) {
		return nil, false, fmt.Errorf("is %q, which is no dateTime: write 2015, 2015-02, 2015-02-07 or 2015-02-07T13:28:17-05:00", shortened(text))
	}
	_, offset := t.Zone()
	d.UTCOffsetMinutes = int32(offset / 60) //nolint:gosec // bounded
	whole := t.Truncate(time.Millisecond)
	d.Time = whole.UTC()
	if d.Time.Year() < 1 || d.Time.Year() > 9999 {
		return nil, false, fmt.Errorf("is %q, which is not in the years 0001 to 9999 in UTC", shortened(text))
	}
	return d, !whole.Equal(t), nil
}

// formatDate writes a time as precisely as it is known, by the clock that it was
// read from.
func formatDate(d *clinical.DateTime) (*string, error) {
	if d == nil {
		return nil, nil //nolint:nilnil // nothing is written as nothing
	}
	layout, ok := layouts[d.Precision]
	if !ok {
		return nil, fmt.Errorf("no precision %d of a time", d.Precision)
	}
	t := d.Time.UTC()
	if d.UTCOffsetMinutes != 0 && d.Precision >= clinical.PrecisionSecond {
		t = t.In(time.FixedZone("", int(d.UTCOffsetMinutes)*60))
	}
	text := t.Format(layout)
	return &text, nil
}
