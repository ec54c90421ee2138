package workloadtest

import (
	"fmt"
	"iter"
	"reflect"
)

// alterations changes one thing at a time in what v points to, names the
// change, and undoes it before the next: each number, text and truth value, and
// the length of each list. Lists are altered in their first and last element.
func alterations(v any) iter.Seq[string] {
	return func(yield func(string) bool) {
		alter(reflect.ValueOf(v).Elem(), reflect.TypeOf(v).Elem().Name(), yield)
	}
}

// alter says whether to go on.
func alter(v reflect.Value, path string, yield func(string) bool) bool {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !alter(v.Field(i), path+"."+f.Name, yield) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if v.IsNil() {
			return true
		}
		return changed(v, reflect.Zero(v.Type()), path, yield) && alter(v.Elem(), path, yield)
	case reflect.Slice:
		return alterList(v, path, yield)
	case reflect.Map:
		if v.Len() == 0 {
			return true
		}
		return changed(v, reflect.Zero(v.Type()), path, yield)
	case reflect.Interface:
		panic(fmt.Sprintf("workloadtest: %s is an interface, which no message has", path))
	}
	return changed(v, other(v), path, yield)
}

func alterList(v reflect.Value, path string, yield func(string) bool) bool {
	n := v.Len()
	if n == 0 {
		return true
	}
	if !changed(v, v.Slice(0, n-1), path, yield) {
		return false
	}
	for _, i := range []int{0, n - 1} {
		if !alter(v.Index(i), fmt.Sprintf("%s[%d]", path, i), yield) {
			return false
		}
	}
	return true
}

func changed(v, to reflect.Value, path string, yield func(string) bool) bool {
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	v.Set(to)
	defer v.Set(before)
	return yield(fmt.Sprintf("%s altered to %v", path, to))
}

// other gives a value that is not v's and is close to it.
func other(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	switch {
	case v.CanInt():
		to.SetInt(v.Int() - 1)
	case v.CanUint():
		to.SetUint(v.Uint() ^ 1)
	case v.CanFloat():
		if f := v.Float(); f == f && f != 0 {
			to.SetFloat(-f)
		} else {
			to.SetFloat(1)
		}
	case v.Kind() == reflect.String:
		to.SetString(v.String() + " ")
	case v.Kind() == reflect.Bool:
		to.SetBool(!v.Bool())
	default:
		panic("workloadtest: cannot alter a " + v.Kind().String())
	}
	return to
}
