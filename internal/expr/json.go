package expr

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gagg-dev/gagg/internal/column"
)

// Functions of JSON read a text in two passes: encoding/json says whether it is valid, and what
// looks for a part of it then need not ask again. Of members of one name the first one counts.

var aPath = class{name: "a JSON path or a number", holds: func(t column.Type) bool { return aString.holds(t) || aCount.holds(t) }}

// jsonFunctions are the functions of texts that are JSON.
var jsonFunctions = []function{
	{
		name: "json_array_length", section: sectionJSON, params: []param{arg("j", aString), fixed("path", aString)}, least: 1,
		result: gives(uint64Type), bind: jsonArrayLength, doc: "how many elements the array has; 0 of what is no array",
	},
	{
		name: "json_exists", section: sectionJSON, params: []param{arg("j", aString), fixed("path", aString)},
		result: gives(boolType), bind: jsonExists, doc: "whether there is a value there",
	},
	{
		name: "json_extract", also: []string{"json_extract_path"}, section: sectionJSON, params: []param{arg("j", aString), fixed("path", aPath)},
		result: gives(stringType), bind: jsonExtract(false), doc: "the value there, as JSON without blanks; NULL if there is none; `j -> path` is the same",
	},
	{
		name: "json_extract_string", also: []string{"json_extract_path_text"}, section: sectionJSON, params: []param{arg("j", aString), fixed("path", aPath)},
		result: gives(stringType), bind: jsonExtract(true), doc: "likewise, of a string its text, of `null` NULL; `j ->> path` is the same",
	},
	{
		name: "json_type", section: sectionJSON, params: []param{arg("j", aString), fixed("path", aString)}, least: 1,
		result: gives(stringType), bind: jsonTypeOf, doc: "`OBJECT`, `ARRAY`, `VARCHAR`, `BIGINT`, `UBIGINT`, `DOUBLE`, `BOOLEAN` or `NULL`",
	},
	{
		name: "json_valid", section: sectionJSON, params: []param{arg("j", aString)},
		result: gives(boolType), bind: jsonValid, doc: "whether the text is JSON",
	},
}

// jsonStep is one step of a path: into a member of an object, or into an element of an array, which
// counts from 0 or, negative, from -1 at the end. A pointer's step takes whichever there is.
type jsonStep struct {
	key     string
	index   int
	isKey   bool
	isIndex bool
}

// jsonPath reads argument 1: a path that begins with $, a pointer that begins with /, or else the
// name of a member or the number of an element. Without the argument, or of the empty text, it is
// the whole value.
func (c *call) jsonPath() (steps []jsonStep, err error) {
	if len(c.args) < 2 {
		return nil, nil
	}
	v := c.args[1].value
	if c.args[1].typ.IsInteger() {
		return []jsonStep{{index: int(v.Int), isIndex: true}}, nil
	}
	rest := v.Bytes
	switch {
	case rest == "":
		return nil, nil
	case strings.HasPrefix(rest, "/"):
		for _, part := range strings.Split(rest[1:], "/") {
			n, err := strconv.Atoi(part)
			key := strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
			steps = append(steps, jsonStep{key: key, index: n, isKey: true, isIndex: err == nil && n >= 0})
		}
		return steps, nil
	case !strings.HasPrefix(rest, "$"):
		return []jsonStep{{key: rest, isKey: true}}, nil
	}
	for rest = rest[1:]; rest != "" && err == nil; {
		var s jsonStep
		s, rest, err = c.jsonStep(rest)
		steps = append(steps, s)
	}
	return steps, err
}

// jsonStep reads one step off the front: .name, ."name", [1], [-1] or [#-1].
func (c *call) jsonStep(text string) (s jsonStep, rest string, err error) {
	inside, rest, closed := strings.Cut(strings.TrimPrefix(text, "["), "]")
	switch {
	case text[0] == '[' && closed:
		s.isIndex = true
		s.index, err = strconv.Atoi(strings.TrimPrefix(inside, "#"))
	case strings.HasPrefix(text, `."`):
		s.isKey = true
		s.key, rest, closed = strings.Cut(text[2:], `"`)
	case text[0] == '.':
		end := strings.IndexAny(text[1:], ".[")
		if end < 0 {
			end = len(text) - 1
		}
		s.isKey, s.key, rest, closed = true, text[1:1+end], text[1+end:], end > 0 && text[1:1+end] != "*"
	default:
		closed = false
	}
	if err != nil || !closed {
		return s, "", c.fail(1, "'%s' is no path to one value, such as '$.a.b[0]'", oneLine(c.args[1].value.Bytes))
	}
	return s, rest, nil
}

// jsonPart calls part with the value of each row that the path leads to, nil if there is none.
func (c *call) jsonPart(part func(f *frame, i int, value []byte, to []byte) []byte) (func(f *frame, i int, to []byte) ([]byte, error), error) {
	path, err := c.jsonPath()
	return func(f *frame, i int, to []byte) ([]byte, error) {
		s := f.args[0].Bytes(i)
		if !isJSON(s) {
			return to, &ValueError{Value: string(s), Type: "JSON"}
		}
		return part(f, i, jsonAt(s, path), to), nil
	}, err
}

// isJSON reports whether s is one value of JSON.
func isJSON(s []byte) bool { return json.Valid(s) && utf8.Valid(s) }

func jsonExtract(asText bool) func(*call) (*bound, error) {
	return func(c *call) (*bound, error) {
		part, err := c.jsonPart(func(f *frame, i int, v, to []byte) []byte {
			switch {
			case v == nil || asText && v[0] == 'n':
				f.setNull(i)
				return to
			case asText && v[0] == '"':
				return append(to, jsonText(v)...)
			}
			return appendCompact(to, v)
		})
		return c.strict(func(f *frame) error {
			return f.eachText(func(i int, to []byte) ([]byte, error) { return part(f, i, to) })
		}, c.args[0]), err
	}
}

func jsonTypeOf(c *call) (*bound, error) {
	part, err := c.jsonPart(func(f *frame, i int, v, to []byte) []byte {
		if v == nil {
			f.setNull(i)
			return to
		}
		return append(to, jsonTypeName(v)...)
	})
	return c.strict(func(f *frame) error {
		return f.eachText(func(i int, to []byte) ([]byte, error) { return part(f, i, to) })
	}, c.args[0]), err
}

// jsonTypeName is DuckDB's name of the type of a value.
func jsonTypeName(v []byte) string {
	switch v[0] {
	case '{':
		return "OBJECT"
	case '[':
		return "ARRAY"
	case '"':
		return "VARCHAR"
	case 't', 'f':
		return "BOOLEAN"
	case 'n':
		return "NULL"
	}
	if _, err := strconv.ParseUint(string(v), 10, 64); err == nil {
		return "UBIGINT"
	}
	if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return "BIGINT"
	}
	return "DOUBLE"
}

// jsonInts binds a function that gives an integer of each row.
func (c *call) jsonInts(part func(f *frame, i int, v []byte) int64) (*bound, error) {
	at, err := c.jsonPart(func(f *frame, i int, v, to []byte) []byte {
		f.out.Int[i] = part(f, i, v)
		return to
	})
	return c.strict(func(f *frame) error {
		return f.failing(func(i int) error {
			_, err := at(f, i, nil)
			return err
		})
	}, c.args[0]), err
}

func jsonArrayLength(c *call) (*bound, error) {
	return c.jsonInts(func(f *frame, i int, v []byte) (n int64) {
		switch {
		case v == nil:
			f.setNull(i)
		case v[0] == '[':
			jsonEach(v, func([]byte, []byte) bool { n++; return true })
		}
		return n
	})
}

func jsonExists(c *call) (*bound, error) {
	return c.jsonInts(func(_ *frame, _ int, v []byte) int64 { return truth(v != nil) })
}

func jsonValid(c *call) (*bound, error) {
	return c.strict(func(f *frame) error {
		for i := range f.n {
			f.out.Int[i] = truth(isJSON(f.args[0].Bytes(i)))
		}
		return nil
	}, c.args[0]), nil
}

// jsonAt is the value in s, valid JSON, to which a path leads; nil: there is none.
func jsonAt(s []byte, path []jsonStep) []byte {
	s = bytes.Trim(s, " \t\r\n")
	for _, step := range path {
		if s = step.in(s); s == nil {
			return nil
		}
	}
	return s
}

// in is the value inside s to which the step leads; nil: there is none.
func (p jsonStep) in(s []byte) (found []byte) {
	switch {
	case p.isKey && s[0] == '{':
		jsonEach(s, func(name, v []byte) bool {
			if jsonText(name) == p.key {
				found = v
			}
			return found == nil
		})
	case p.isIndex && s[0] == '[':
		n := p.index
		if n < 0 {
			jsonEach(s, func(_, _ []byte) bool { n++; return true })
		}
		jsonEach(s, func(_, v []byte) bool {
			if n == 0 {
				found = v
			}
			n--
			return found == nil
		})
	}
	return found
}

// jsonEach calls f with the elements of an array, or with the members of an object and their names,
// until it returns false.
func jsonEach(s []byte, f func(name, v []byte) bool) {
	i := jsonBlank(s, 1)
	for s[i] != ']' && s[i] != '}' {
		var name []byte
		if s[0] == '{' {
			end := jsonEnd(s, i)
			name = s[i:end]
			i = jsonBlank(s, jsonBlank(s, end)+1) // behind the colon
		}
		end := jsonEnd(s, i)
		if !f(name, s[i:end]) {
			return
		}
		if i = jsonBlank(s, end); s[i] == ',' {
			i = jsonBlank(s, i+1)
		}
	}
}

// jsonBlank is where blanks from i on end.
func jsonBlank(s []byte, i int) int {
	for s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n' {
		i++
	}
	return i
}

// jsonEnd is the end of the value that begins at i.
func jsonEnd(s []byte, i int) int {
	if s[i] == '"' {
		return jsonStringEnd(s, i)
	}
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = jsonStringEnd(s, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// jsonStringEnd is the end of the string that begins at i.
func jsonStringEnd(s []byte, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// jsonText is the text of a string.
func jsonText(v []byte) string {
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var text string
	if json.Unmarshal(v, &text) != nil {
		return string(inner)
	}
	return text
}

// appendCompact appends a value without the blanks between its parts.
func appendCompact(to, v []byte) []byte {
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case ' ', '\t', '\r', '\n':
		case '"':
			end := jsonStringEnd(v, i)
			to, i = append(to, v[i:end]...), end-1
		default:
			to = append(to, v[i])
		}
	}
	return to
}
