package records

import (
	"time"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// Records are of these years.
const (
	firstSecond = 1104537600 // 2005-01-01
	manySeconds = 661000000  // up to late 2025
	daySeconds  = 86400
)

// offsets are of clocks in minutes, those of most people more often.
var offsets = []int32{-480, -420, -360, -300, -300, -240, -180, -210, 0, 0, 60, 60, 120, 180, 330, 345, 480, 540, 570, 840}

// The precisions that dates have: when something began is remembered less well
// than when it was written down.
var (
	remembered = []clinical.DatePrecision{
		clinical.PrecisionYear, clinical.PrecisionMonth, clinical.PrecisionMonth, clinical.PrecisionDay,
		clinical.PrecisionDay, clinical.PrecisionDay, clinical.PrecisionDay, clinical.PrecisionSecond,
	}
	written = []clinical.DatePrecision{
		clinical.PrecisionDay, clinical.PrecisionSecond, clinical.PrecisionSecond, clinical.PrecisionMillisecond,
	}
)

// moment gives a date whose first moment is at or before a second.
func (m *maker) moment(second int64, precision clinical.DatePrecision) *clinical.DateTime {
	d := &m.dates[m.usedDates]
	m.usedDates++
	d.Precision = precision
	t := time.Unix(second, 0).UTC()
	switch precision {
	case clinical.PrecisionYear:
		t = time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	case clinical.PrecisionMonth:
		t = time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	case clinical.PrecisionDay:
		t = time.Unix(second-second%daySeconds, 0).UTC()
	case clinical.PrecisionMillisecond:
		t = time.Unix(second, int64(m.below(1000))*int64(time.Millisecond)).UTC()
		d.UTCOffsetMinutes = *one(&m.draw, offsets)
	default:
		d.UTCOffsetMinutes = *one(&m.draw, offsets)
	}
	d.Time = t
	return d
}

// date says when it was taken and when that was told.
func (m *maker) date() {
	s := &m.statement
	begin := firstSecond + int64(m.below(manySeconds))
	end := begin + int64(m.below(400)+1)*daySeconds + int64(m.below(daySeconds))
	switch kind := m.below(100); {
	case kind < 25:
		s.EffectiveDateTime = m.moment(begin, *one(&m.draw, remembered))
	case kind < 85:
		s.EffectivePeriod = &m.period
		m.period.Start = m.moment(begin, *one(&m.draw, remembered))
		if ended(s.Status) && m.percent(85) {
			m.period.End = m.moment(end, *one(&m.draw, remembered))
			if m.period.End.Time.Before(m.period.Start.Time) { // of its year only the first moment is kept
				*m.period.End = *m.period.Start
			}
		}
	}
	if m.percent(85) {
		s.DateAsserted = m.moment(begin+int64(m.below(30*daySeconds)), *one(&m.draw, written))
	}
}

func ended(s clinical.StatementStatus) bool {
	return s == clinical.StatementCompleted || s == clinical.StatementStopped
}
