package expr

import (
	"bytes"
	"encoding/json"
	"testing"
)

// rebuilt is a value put together again from the parts that jsonEach gives.
func rebuilt(to, v []byte) []byte {
	if v[0] != '{' && v[0] != '[' {
		return append(to, v...)
	}
	to = append(to, v[0])
	first := true
	jsonEach(v, func(name, part []byte) bool {
		if !first {
			to = append(to, ',')
		}
		if first = false; name != nil {
			to = append(append(to, name...), ':')
		}
		to = rebuilt(to, part)
		return true
	})
	return append(to, v[0]+2) // the closing one
}

// FuzzJSON protects that whatever text is valid JSON is taken apart where encoding/json sees its
// parts.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a": [1, -2.5e3 , "x\"]}", {}], "b" : null}`, ` [ ] `, `[[],[[1] ,2 ] ]`, `"\u00e9\\"`, `{"":{"":""}}`, "{", `[1,]`, " 7\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !isJSON([]byte(s)) {
			return
		}
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(s)); err != nil {
			t.Fatal(err)
		}
		whole := jsonAt([]byte(s), nil)
		if got := rebuilt(nil, whole); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("the parts of %q are %q", s, got)
		}
		if got := appendCompact(nil, whole); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%q without blanks is %q", s, got)
		}
	})
}
