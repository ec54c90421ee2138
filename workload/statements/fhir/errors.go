package fhir

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FieldError is what is wrong with one field of a resource.
type FieldError struct {
	Path    string // "dosage[0].timing.repeat.period"; "" is the whole
	Problem string
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + " " + e.Problem
}

// fieldError says what the parser found, in FHIR's words.
func fieldError(err error) error {
	var semantic *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		problem := "has the wrong type"
		if semantic.JSONKind != 0 {
			problem = fmt.Sprintf("has the wrong type: a %s stands there", kindName(semantic.JSONKind))
		}
		return &FieldError{path(semantic.JSONPointer), problem}
	case errors.As(err, &syntax):
		return &FieldError{path(syntax.JSONPointer), "is broken JSON: " + syntaxProblem(syntax)}
	}
	return err
}

func syntaxProblem(e *jsontext.SyntacticError) string {
	if errors.Is(e, jsontext.ErrDuplicateName) {
		return "the name comes twice"
	}
	return e.Err.Error()
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '[':
		return "array"
	}
	return "object"
}

// path gives a JSON pointer as FHIR writes it: /dosage/0/text is dosage[0].text.
func path(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch n, err := strconv.Atoi(token); {
		case err == nil:
			fmt.Fprintf(&b, "[%d]", n)
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
