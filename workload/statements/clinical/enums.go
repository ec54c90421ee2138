package clinical

import "fmt"

// VisitStatus is where a visit stands: a number in protobuf, a name in JSON.
type VisitStatus int32

// The statuses of a visit. It moves forward only.
const (
	VisitInvalid VisitStatus = iota
	VisitCreated
	VisitInProgress
	VisitSigned
)

// StatementStatus is where a statement stands: a number in protobuf, a name in
// JSON.
type StatementStatus int32

// The statuses of a statement, as in FHIR R4.
const (
	StatementUnspecified StatementStatus = iota
	StatementActive
	StatementCompleted
	StatementEnteredInError
	StatementIntended
	StatementStopped
	StatementOnHold
	StatementUnknown
	StatementNotTaken
)

// DatePrecision is how much of a time is known.
type DatePrecision int32

// How much of a time may be known.
const (
	PrecisionUnspecified DatePrecision = iota
	PrecisionYear
	PrecisionMonth
	PrecisionDay
	PrecisionSecond
	PrecisionMillisecond
)

var (
	visitStatuses = enum{
		"VISIT_STATUS_INVALID", "VISIT_STATUS_CREATED", "VISIT_STATUS_IN_PROGRESS", "VISIT_STATUS_SIGNED",
	}
	statementStatuses = enum{
		"MEDICATION_STATEMENT_STATUS_UNSPECIFIED", "MEDICATION_STATEMENT_STATUS_ACTIVE",
		"MEDICATION_STATEMENT_STATUS_COMPLETED", "MEDICATION_STATEMENT_STATUS_ENTERED_IN_ERROR",
		"MEDICATION_STATEMENT_STATUS_INTENDED", "MEDICATION_STATEMENT_STATUS_STOPPED",
		"MEDICATION_STATEMENT_STATUS_ON_HOLD", "MEDICATION_STATEMENT_STATUS_UNKNOWN",
		"MEDICATION_STATEMENT_STATUS_NOT_TAKEN",
	}
	precisions = enum{
		"DATE_PRECISION_UNSPECIFIED", "DATE_PRECISION_YEAR", "DATE_PRECISION_MONTH", "DATE_PRECISION_DAY",
		"DATE_PRECISION_SECOND", "DATE_PRECISION_MILLISECOND",
	}
)

// MarshalText gives the name of the status.
func (s VisitStatus) MarshalText() ([]byte, error) { return visitStatuses.text(int32(s)) }

// UnmarshalText takes the name of a status.
func (s *VisitStatus) UnmarshalText(text []byte) error { return visitStatuses.parse(text, (*int32)(s)) }

// MarshalText gives the name of the status.
func (s StatementStatus) MarshalText() ([]byte, error) { return statementStatuses.text(int32(s)) }

// UnmarshalText takes the name of a status.
func (s *StatementStatus) UnmarshalText(text []byte) error {
	return statementStatuses.parse(text, (*int32)(s))
}

// MarshalText gives the name of the precision.
func (p DatePrecision) MarshalText() ([]byte, error) { return precisions.text(int32(p)) }

// UnmarshalText takes the name of a precision.
func (p *DatePrecision) UnmarshalText(text []byte) error { return precisions.parse(text, (*int32)(p)) }

// enum is the names of an enum's values, which count from 0.
type enum []string

func (e enum) text(n int32) ([]byte, error) {
	if n < 0 || int(n) >= len(e) {
		return nil, fmt.Errorf("no name for %d beside %s", n, e[0])
	}
	return []byte(e[n]), nil
}

func (e enum) parse(text []byte, n *int32) error {
	for i, name := range e {
		if string(text) == name {
			*n = int32(i) //nolint:gosec // a few
			return nil
		}
	}
	return fmt.Errorf("no value %q beside %s", text, e[0])
}
