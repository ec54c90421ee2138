package openapi

import (
	"iter"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/tare-bench/tare/rpc"
)

// Names of components. None is a full name of protobuf: those have dots here.
const (
	problemSchema    = "Problem"
	invalidResponse  = "Invalid"
	busyResponse     = "Busy"
	failedResponse   = "Failed"
	timeoutParameter = "Timeout"
)

const problemMedia = "application/problem+json"

func problemRef() *openapi3.SchemaRef {
	return openapi3.NewSchemaRef("#/components/schemas/"+problemSchema, nil)
}

// common adds what every operation refers to.
func (b *builder) common() {
	c := b.doc.Components
	c.Schemas[problemSchema] = openapi3.NewSchemaRef("", problem())
	answer := func(text string, headers openapi3.Headers) *openapi3.ResponseRef {
		return &openapi3.ResponseRef{Value: &openapi3.Response{
			Description: &text, Headers: headers,
			Content: openapi3.Content{problemMedia: {Schema: problemRef()}},
		}}
	}
	c.Responses[invalidResponse] = answer("The request is not right: `violations` says what is wrong with which field, "+
		"unless the whole is of no use or does not fit what is there.", nil)
	c.Responses[busyResponse] = answer("There is too much to do, or something that it takes is away. "+
		"Call again, but not before the time that Retry-After says, if it does.", openapi3.Headers{
		"Retry-After": {Value: &openapi3.Header{Parameter: openapi3.Parameter{
			Description: "Whole seconds to wait before the next try.",
			Schema:      openapi3.NewSchemaRef("", openapi3.NewIntegerSchema().WithMin(1)),
		}}},
	})
	c.Responses[failedResponse] = answer("Any other failure; `code` says which.", nil)
	c.Parameters[timeoutParameter] = &openapi3.ParameterRef{Value: openapi3.NewHeaderParameter("Grpc-Timeout").
		WithDescription("How long the caller waits, as gRPC writes it: digits, then H, M, S, m, u or n for hours to nanoseconds. " +
			"The call ends then, with 504.").
		WithSchema(openapi3.NewStringSchema().WithPattern("^[0-9]{1,8}[HMSmun]$"))}
}

// failures are the answers to a call that fails, by status.
func failures(r route) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		_ = yield("400", invalidResponse) && yield("429", busyResponse) && yield("503", busyResponse) &&
			(len(r.params) == 0 || yield("404", failedResponse)) && yield("default", failedResponse)
	}
}

// problem is the body of every failure.
// Source: RFC 9457; google.rpc.Status, BadRequest and RetryInfo.
func problem() *openapi3.Schema {
	var names []any
	for c := rpc.Canceled; c <= rpc.Unauthenticated; c++ {
		names = append(names, c.String())
	}
	code := text("What failed, for programs: a name of google.rpc.Code.")
	code.Enum = names
	status := openapi3.NewIntegerSchema().WithMin(http.StatusBadRequest).WithMax(599)
	status.Description = "The HTTP status."
	violation := openapi3.NewObjectSchema().
		WithProperty("field", text("Path to the field, by names in the schema, such as `lines[0].quantity`.")).
		WithProperty("description", text("What is wrong with it, for people.")).
		WithProperty("reason", text("What is wrong with it, for programs: the rule that it breaks, such as `STRING_MIN_LEN`."))
	violations := openapi3.NewArraySchema().WithItems(violation)
	violations.Description = "What is wrong with the request's fields."
	retry := openapi3.NewFloat64Schema().WithMin(0)
	retry.Description = "Seconds to wait before the next try, where that is known."
	s := openapi3.NewObjectSchema().
		WithProperty("type", text("Always about:blank: a problem is what its status and its code say.").WithFormat("uri-reference")).
		WithProperty("title", text("The HTTP status in words.")).
		WithProperty("status", status).
		WithProperty("detail", text("What failed, for people.")).
		WithProperty("code", code).
		WithProperty("violations", violations).
		WithProperty("retryAfter", retry)
	s.Required = []string{"type", "title", "status", "code"}
	s.Description = "What every failure looks like: problem details (RFC 9457)."
	return s
}
