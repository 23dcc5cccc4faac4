package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/gagg-dev/gagg"
	"github.com/gagg-dev/gagg/internal/spelling"
)

// writeTopics explains flags, functions and aggregates, by any of their names: gagg help sum,
// gagg help --where.
func writeTopics(w io.Writer, f *pflag.FlagSet, topics []string) error {
	for i, topic := range topics {
		text := explainTopic(f, topic)
		if text == "" {
			return unknownTopic(f, topic)
		}
		if i > 0 {
			text = "\n" + text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return output(err)
		}
	}
	return nil
}

// explainTopic is what there is to say of a name; "" if it is none. A flag and a function may
// have one name.
func explainTopic(f *pflag.FlagSet, topic string) string {
	var texts []string
	name := strings.ToLower(strings.TrimSuffix(topic, "()"))
	if flag := lookupFlag(f, name); flag != nil {
		only := pflag.NewFlagSet("", pflag.ContinueOnError)
		only.AddFlag(flag)
		texts = append(texts, helpFlags(only))
	}
	if strings.HasPrefix(name, "-") && len(texts) > 0 {
		return strings.Join(texts, "\n")
	}
	for _, a := range gagg.Aggregates() {
		if a.Name == name || slices.Contains(a.Also, name) {
			texts = append(texts, fmt.Sprintf("aggregate %s: %s\n%s", a.Signature, plainText(a.Doc), typesOf(a.Takes, a.Result, a.Also)))
		}
	}
	for _, t := range gagg.CastTypes() {
		if t.Name == name || slices.Contains(t.Casts, name) {
			texts = append(texts, fmt.Sprintf("type %s: cast(x as %s), x::%s\n%s", t.Name, t.Casts[0], t.Casts[0], typesOf("", "", t.Casts[1:])))
		}
	}
	for _, o := range gagg.Operators() {
		if o.Name == name || slices.Contains(o.Also, name) {
			texts = append(texts, fmt.Sprintf("operator %s: %s\n%s", o.Shown, plainText(o.Doc), typesOf("", o.Result, o.Also)))
		}
	}
	for _, fn := range gagg.Functions() {
		if fn.Name == name || slices.Contains(fn.Also, name) {
			texts = append(texts, fmt.Sprintf("function %s: %s\n%s", fn.Signature, plainText(fn.Doc), typesOf("", fn.Result, fn.Also)))
		}
	}
	return strings.Join(texts, "\n")
}

// lookupFlag finds a flag by its name or letter, with dashes or without.
func lookupFlag(f *pflag.FlagSet, name string) *pflag.Flag {
	bare := strings.TrimLeft(name, "-")
	if len(bare) == 1 {
		return f.ShorthandLookup(bare)
	}
	return f.Lookup(bare)
}

// typesOf is what goes in and what comes out, and the other names.
func typesOf(takes, result string, also []string) (text string) {
	for _, line := range []struct{ what, value string }{
		{"takes", plainText(takes)}, {"gives", plainText(result)}, {"also called", strings.Join(also, ", ")},
	} {
		if line.value != "" {
			text += fmt.Sprintf("  %s: %s\n", line.what, line.value)
		}
	}
	return text
}

// plainText is a text of docs/semantics.md without its marks.
func plainText(markdown string) string {
	text := markdownLink().ReplaceAllString(strings.ReplaceAll(markdown, "`", ""), "$1")
	return strings.ReplaceAll(text, "see below", "see docs/semantics.md")
}

var markdownLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`) })

// unknownTopic says what a name may stand for.
func unknownTopic(f *pflag.FlagSet, topic string) error {
	names := flagNames(f)
	for _, a := range gagg.Aggregates() {
		names = append(append(names, a.Name), a.Also...)
	}
	for _, fn := range gagg.Functions() {
		names = append(append(names, fn.Name), fn.Also...)
	}
	meant := otherNames[strings.ToLower(strings.TrimLeft(topic, "-"))]
	if meant == "" {
		meant = spelling.Nearest(strings.TrimLeft(topic, "-"), names)
	}
	if meant == "" {
		return usagef("help %s: there is no flag, aggregate, function, operator or type of that name; gagg --help lists them", topic)
	}
	return usagef("help %s: there is no flag, aggregate, function, operator or type of that name; did you mean %s?", topic, meant)
}
