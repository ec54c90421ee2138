package avro

import (
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"
)

// errNotUTF8 is said of text that the library would take, and no other codec.
var errNotUTF8 = errors.New("is not UTF-8")

// check looks for text that is not UTF-8 in a value. On its way it makes a list
// of nothing nil, which the library does not, and all other codecs do: answers
// are compared with what is expected.
type check func(reflect.Value) error

// checker makes checks by types: nil for one that holds no text. A type may
// hold itself, so that a struct's is found as it is run.
type checker map[reflect.Type]*structCheck

// structCheck has the checks of a struct's fields that hold text.
type structCheck struct {
	fields []fieldCheck
}

type fieldCheck struct {
	index int
	name  string
	check check
}

func (c *structCheck) run(v reflect.Value) error {
	for i := range c.fields {
		f := &c.fields[i]
		if err := f.check(v.Field(f.index)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func (c checker) of(t reflect.Type) check {
	switch t.Kind() {
	case reflect.String:
		return checkText
	case reflect.Pointer:
		if inner := c.of(t.Elem()); inner != nil {
			return func(v reflect.Value) error {
				if v.IsNil() {
					return nil
				}
				return inner(v.Elem())
			}
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil // bytes are no list
		}
		inner := c.of(t.Elem())
		return func(v reflect.Value) error { return checkList(v, inner) }
	case reflect.Map:
		return checkKeys // which are text; no schema has a map to text
	case reflect.Struct:
		if t != reflect.TypeFor[time.Time]() {
			return c.structure(t).run
		}
	}
	return nil
}

func (c checker) structure(t reflect.Type) *structCheck {
	if made, ok := c[t]; ok {
		return made
	}
	made := new(structCheck)
	c[t] = made
	for f := range t.Fields() {
		if inner := c.of(f.Type); inner != nil {
			made.fields = append(made.fields, fieldCheck{f.Index[0], f.Name, inner})
		}
	}
	return made
}

func checkText(v reflect.Value) error {
	if !utf8.ValidString(v.String()) {
		return errNotUTF8
	}
	return nil
}

func checkList(v reflect.Value, inner check) error {
	if v.Len() == 0 {
		v.SetZero()
		return nil
	}
	if inner == nil {
		return nil
	}
	for i := range v.Len() {
		if err := inner(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func checkKeys(v reflect.Value) error {
	for entry := v.MapRange(); entry.Next(); {
		if err := checkText(entry.Key()); err != nil {
			return err
		}
	}
	return nil
}
