package statements

import (
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// numberOf gives the number that a token holds, 0 where there is none; one that
// is not of this list is a violation.
func numberOf(token string, bad rpc.Violation, of ...string) (int64, error) {
	if token == "" {
		return 0, nil
	}
	number, ok := workload.PageNumber(token, of...)
	if !ok {
		return 0, workload.Invalid(bad)
	}
	return number, nil
}

// What is wrong with tokens.
var (
	badStatementPage = rpc.Violation{
		Field: "page_token", Description: "must be the next_page_token of a list with the same subject", Reason: "PAGE_TOKEN",
	}
	badVisitPage = rpc.Violation{
		Field: "page_token", Description: "must be the next_page_token of a list with the same patient_id", Reason: "PAGE_TOKEN",
	}
	badResume = rpc.Violation{
		Field: "resume_token", Description: "must be the resume_token of an export with the same subject", Reason: "RESUME_TOKEN",
	}
)
