package main

import (
	"slices"
	"strings"

	"github.com/gagg-dev/gagg"
)

// place is the position of the cursor in an expression.
type place struct {
	before string // the text up to the name that is begun
	name   string // that name; of one in quotes without them
	quoted bool   // the quote of a name is open
	text   bool   // the quote of a text is open
	// the functions of the open parentheses, the innermost last: sum, or "" for none
	calls []string
	// the token before the name: an operator or a word of the language; "x" for an operand
	last    string
	cutFrom int // where the item of the list begins
}

// namePart reports whether a byte may be part of a name, in any alphabet. A dot stands between a
// struct and its field.
func namePart(c byte) bool {
	return c == '_' || c == '.' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// Words of the language that are no operators.
var (
	prefixWords = []string{"case", "false", "not", "null", "true"}
	caseWords   = []string{"when", "then", "else", "end"}
	orderWords  = []string{"asc", "desc", "nulls", "first", "last"}
)

// isWord reports whether a name is a word after which an operand may follow: the beginning of an
// operator, or another word of the language.
func isWord(name string) bool {
	if slices.Contains([]string{"as", "case", "distinct", "else", "from", "then", "when", "where"}, name) {
		return true
	}
	return slices.ContainsFunc(operatorCandidates(), func(c candidate) bool {
		first, _, _ := strings.Cut(c.text, " ")
		return first == name
	})
}

// operatorCandidates are the operators that are words.
func operatorCandidates() (list []candidate) {
	for _, o := range gagg.Operators() {
		for _, name := range append([]string{o.Name}, o.Also...) {
			if name[0] >= 'a' && name[0] <= 'z' {
				list = append(list, candidate{name, o.Shown})
			}
		}
	}
	return list
}

// placeIn finds the end of text in its expression.
func placeIn(text string) (p place) {
	var call string // the name that ends where the scan is
	for i := 0; i < len(text); {
		from := i
		switch c := text[i]; {
		case c == '\'' || c == '"':
			end, closed := quotedEnd(text, i)
			if !closed {
				p.text, p.quoted = c == '\'', c == '"'
				p.before, p.name = text[:from], text[from+1:]
				return p
			}
			i, call, p.last = end, "", "x"
		case namePart(c):
			for i < len(text) && namePart(text[i]) {
				i++
			}
			if i == len(text) {
				p.before, p.name = text[:from], text[from:]
				return p
			}
			call = strings.ToLower(text[from:i])
			p.last = wordBehind(p.last, call)
		case c == ' ' || c == '\t' || c == '\n':
			i++
		default:
			i++
			p.last = string(c)
			switch {
			case c == '(':
				p.calls = append(p.calls, call)
			case c == ')' && len(p.calls) > 0:
				p.calls, p.last = p.calls[:len(p.calls)-1], "x"
			case c == ',' && len(p.calls) == 0:
				p.cutFrom = i
			}
			call = ""
		}
	}
	p.before = text
	return p
}

// wordBehind is place.last after a word: the word, with the words before it that belong to it, if
// an operand may follow; "x" if the word is an operand.
func wordBehind(last, word string) string {
	switch {
	case last == "at" && word == "time", last == "at time" && word == "zone", last == "similar" && word == "to", last == "order" && word == "by":
		return last + " " + word
	case isWord(word) || word == "order" && (last == "x" || last == "("):
		return word
	}
	return "x"
}

// quotedEnd is the end of the quoted text that begins at i. Two quotes within it stand for one.
func quotedEnd(text string, i int) (end int, closed bool) {
	quote := text[i]
	for i++; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i+1 < len(text) && text[i+1] == quote {
			i++
			continue
		}
		return i + 1, true
	}
	return len(text), false
}

// inExpression are the candidates in a list or an expression.
func (l *typedLine) inExpression() (matching []candidate) {
	p := placeIn(l.current)
	names := l.choicesAt(p)
	if names == nil {
		if p.text || p.last == "as" {
			return nil // a text, or a name that is the user's to choose
		}
		names = l.namesAt(p)
	}
	for _, c := range names {
		if p.quoted && !strings.HasPrefix(c.text, `"`) {
			c.text = `"` + c.text + `"`
		}
		if strings.HasPrefix(strings.Trim(c.text, `"'`), p.name) {
			matching = append(matching, candidate{l.before + p.before + c.text, c.about})
		}
	}
	return matching
}

// choicesAt returns the candidates for a place that takes only certain words or texts: types,
// parts of dates, time zones. nil: it is another place.
func (l *typedLine) choicesAt(p place) []candidate {
	call := ""
	if len(p.calls) > 0 {
		call = p.calls[len(p.calls)-1]
	}
	switch {
	case p.text && (p.last == "at time zone" || p.last == "(" && call == "timezone"):
		return quotedChoices(zoneNames())
	case p.last == "(" && call != "":
		return partChoices(call, p.text)
	case p.text:
		return nil
	case strings.HasSuffix(p.before, "::"), p.last == "as" && (call == "cast" || call == "try_cast"):
		return typeCandidates()
	}
	return nil
}

// partChoices are the parts of dates with which the arguments of a call begin, in quotes or not.
func partChoices(call string, text bool) (list []candidate) {
	for _, fn := range gagg.Functions() {
		if text && (fn.Name == call || slices.Contains(fn.Also, call)) {
			return quotedChoices(fn.Parts)
		}
	}
	for _, form := range gagg.Forms() {
		if form.Name != call || text {
			continue
		}
		for _, part := range form.Parts {
			list = append(list, candidate{text: part + " from "})
		}
	}
	return list
}

func quotedChoices(texts []string) (list []candidate) {
	for _, text := range texts {
		list = append(list, candidate{text: "'" + text + "'"})
	}
	return list
}

// typeCandidates are the types that casts take, by all of their names.
func typeCandidates() (list []candidate) {
	for _, t := range gagg.CastTypes() {
		for _, name := range t.Casts {
			text := bareName(name)
			if text != name {
				text += "("
			}
			list = append(list, candidate{text, t.Name})
		}
	}
	return list
}

// namesAt is what may stand at a place, columns first.
func (l *typedLine) namesAt(p place) (names []candidate) {
	flag := l.flag.Name
	if p.last == "x" && !p.quoted {
		return append(wordsInCall(p), l.wordsBehind(flag)...)
	}
	inCall := len(p.calls) > 0
	switch {
	case strings.HasSuffix(p.before, "(*"):
		return choices(")")
	case flag == "agg" && !inCall:
		return aggregateCandidates()
	case flag == "order-by" || flag == "bar" || flag == "partition-by":
		return choices(l.results()...)
	case flag == "pivot" || flag == "sets":
		return choices(l.itemNames("by")...)
	case flag == "having" && !inCall:
		names = append(choices(l.results()...), aggregateCandidates()...)
	default:
		for _, column := range l.columns() {
			names = append(names, candidate{gagg.ColumnText(column.Name), column.Type})
		}
		if inCall && p.last == "(" && p.calls[len(p.calls)-1] == "filter" {
			return choices("where ")
		}
		if inCall && p.last == "(" && flag == "agg" {
			names = append(names, candidate{text: "distinct "})
			if p.calls[len(p.calls)-1] == "count" {
				names = append(names, candidate{"*)", "rows"})
			}
		}
	}
	if p.quoted || p.name == "" {
		return names // all functions of the language would hide the columns
	}
	return slices.Concat(names, functionCandidates(), formCandidates(), choices(prefixWords...))
}

// wordsInCall are the words that may follow an operand only among the arguments of some calls.
func wordsInCall(p place) []candidate {
	if len(p.calls) == 0 {
		return nil
	}
	switch p.calls[len(p.calls)-1] {
	case "cast", "try_cast":
		return choices("as ")
	case "extract":
		return choices("from ")
	case "list", "array_agg", "string_agg", "group_concat", "listagg", "first", "last", "any_value", "arbitrary":
		return choices("order by ")
	}
	return nil
}

// wordsBehind are the words that may follow an operand.
func (l *typedLine) wordsBehind(flag string) []candidate {
	switch flag {
	case "order-by":
		return choices(orderWords...)
	case "bar", "partition-by", "pivot", "sets":
		return nil
	}
	words := append(operatorCandidates(), choices(caseWords...)...)
	switch flag {
	case "agg":
		return append(choices("as ", "filter (where ", "within group (order by "), words...)
	case "by":
		return append(choices("as "), words...)
	}
	return words
}

// results are the names of the columns of the result, as far as they are typed.
func (l *typedLine) results() []string {
	names := append(l.itemNames("by"), l.itemNames("agg")...)
	if l.merges {
		names = append(names, l.merged()...)
	}
	return names
}

// itemNames are the names of the items of the lists of a flag: what follows "as", else the text.
func (l *typedLine) itemNames(flag string) (names []string) {
	for _, list := range l.values[flag] {
		for list != "" {
			item, rest := firstItem(list)
			list = rest
			lower := strings.ToLower(item)
			if i := strings.LastIndex(lower, " as "); i >= 0 {
				item = strings.TrimSpace(item[i+len(" as "):])
			} else if item = strings.TrimSpace(lower); !strings.HasPrefix(item, `"`) {
				item = gagg.ColumnText(item)
			}
			if item != "" {
				names = append(names, item)
			}
		}
	}
	return names
}

// firstItem cuts a list at its first comma outside of parentheses and quotes.
func firstItem(list string) (item, rest string) {
	for i := range len(list) {
		if p := placeIn(list[:i+1]); p.cutFrom == i+1 {
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

func aggregateCandidates() (list []candidate) {
	list = append(list, candidate{"count(*)", "rows"})
	for _, a := range gagg.Aggregates() {
		list = append(list, candidate{a.Name + "(", a.Signature + ", " + summary(plainText(a.Doc))})
	}
	for _, form := range gagg.Forms() {
		if form.Name == "within group" {
			for _, name := range form.Also {
				list = append(list, candidate{name + "(", form.Shown})
			}
		}
	}
	return list
}

// formCandidates are the forms that begin with their name.
func formCandidates() (list []candidate) {
	for _, form := range gagg.Forms() {
		for _, end := range []string{"(", " "} {
			if strings.HasPrefix(form.Shown, form.Name+end) && form.Name != "case" { // a word that stands alone, too
				list = append(list, candidate{form.Name + end, form.Shown})
			}
		}
	}
	return list
}

func functionCandidates() (list []candidate) {
	for _, fn := range gagg.Functions() {
		text := fn.Name + "("
		if strings.HasSuffix(fn.Signature, "()") {
			text += ")"
		}
		list = append(list, candidate{text, fn.Signature + ", " + summary(plainText(fn.Doc))})
	}
	return list
}
