package datagen

import (
	"fmt"
	"math/rand/v2"
	"reflect"
)

// mutateField changes a field of what to points to, at any depth, and returns the way there. Every
// branch is as likely, however much lies behind it.
func mutateField(to any, rng *rand.Rand) (way string) {
	for range 20 {
		way, ok := mutateValue(reflect.ValueOf(to).Elem(), rng)
		if ok {
			return way
		}
	}
	return ""
}

func mutateValue(v reflect.Value, rng *rand.Rand) (way string, ok bool) {
	switch v.Kind() {
	case reflect.Struct:
		if v.NumField() == 0 {
			return "", false
		}
		i := rng.IntN(v.NumField())
		if !v.Type().Field(i).IsExported() {
			return "", false
		}
		way, ok = mutateValue(v.Field(i), rng)
		return "." + v.Type().Field(i).Name + way, ok
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "", false
		}
		return mutateValue(v.Elem(), rng)
	case reflect.Slice:
		return mutateSlice(v, rng)
	}
	if !v.CanSet() {
		return "", false
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(string(changed([]byte(v.String()), rng)))
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := v.Int(); rng.IntN(2) == 0 {
			v.SetInt(n + int64(rng.IntN(5)) - 2) // wraps: SetInt cuts
		} else {
			v.SetInt(number(rng))
		}
		way = fmt.Sprint("=", v.Int())
	default:
		return "", false
	}
	return way, true
}

func mutateSlice(v reflect.Value, rng *rand.Rand) (way string, ok bool) {
	if !v.CanSet() {
		return "", false
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(changed(v.Bytes(), rng))
		return "", true
	}
	n := v.Len()
	if n == 0 {
		return "", false
	}
	i := rng.IntN(n)
	switch rng.IntN(16) {
	case 0: // one less
		v.Set(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(i+1, n)))
		return fmt.Sprintf("[%d] is gone", i), true
	case 1: // twice
		v.Set(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(max(i-1, 0), n)))
		return fmt.Sprintf("[%d] again", i), true
	case 2:
		v.Index(i).Set(v.Index(rng.IntN(n)))
		return fmt.Sprintf("[%d] is another", i), true
	}
	way, ok = mutateValue(v.Index(i), rng)
	return fmt.Sprintf("[%d]%s", i, way), ok
}
