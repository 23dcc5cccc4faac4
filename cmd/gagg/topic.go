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

// writeTopics explains flags, names of the language, formats, variables and exit statuses, by any
// of their names: gagg help sum, gagg help --where, gagg help 141.
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

// explainTopic is the explanation of a name; "" if it is unknown. A flag and a function may have
// the same name.
func explainTopic(f *pflag.FlagSet, topic string) string {
	var texts []string
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	name := bareName(strings.ToLower(topic))
	if flag := lookupFlag(f, name); flag != nil {
		add("%s", helpFlag(flag))
	}
	if strings.HasPrefix(name, "-") && len(texts) > 0 {
		return strings.Join(texts, "\n")
	}
	for _, a := range gagg.Aggregates() {
		if calledSo(name, a.Name, a.Also) {
			add("aggregate %s: %s\n%s", a.Signature, plainText(a.Doc), typesOf(a.Takes, a.Result, a.Also))
		}
	}
	for _, t := range gagg.CastTypes() {
		if calledSo(name, t.Name, t.Casts) {
			add("type %s: cast(x as %s), x::%s\n%s", t.Name, t.Casts[0], t.Casts[0], typesOf("", "", t.Casts[1:]))
		}
	}
	for _, o := range gagg.Operators() {
		if calledSo(name, o.Name, o.Also) {
			add("operator %s: %s\n%s", o.Shown, plainText(o.Doc), typesOf("", o.Result, o.Also))
		}
	}
	for _, form := range gagg.Forms() {
		if calledSo(name, form.Name, form.Also) {
			add("form %s: %s\n%s%s", form.Shown, plainText(form.Doc), typesOf("", form.Result, nil), formExample(form))
		}
	}
	for _, fn := range gagg.Functions() {
		if calledSo(name, fn.Name, fn.Also) {
			add("function %s: %s\n%s", fn.Signature, plainText(fn.Doc), typesOf("", fn.Result, fn.Also))
		}
	}
	return strings.Join(append(texts, explainOutside(f, name)...), "\n")
}

// explainOutside explains a name that is not one of the language: a format, a variable, an exit
// status.
func explainOutside(f *pflag.FlagSet, name string) (texts []string) {
	for _, format := range formats {
		if name == format.name {
			texts = append(texts, fmt.Sprintf("format %s: %s\n", format.name, format.about))
		}
	}
	for _, flag := range flagNames(f) {
		if strings.EqualFold(name, variable(flag)) && !notFromEnvironment[flag] {
			texts = append(texts, fmt.Sprintf("variable %s: stands for --%s, which wins\n%s", variable(flag), flag, helpFlag(f.Lookup(flag))))
		}
	}
	for _, v := range otherVariables {
		if strings.EqualFold(name, v.name) {
			texts = append(texts, fmt.Sprintf("variable %s: %s\n", v.name, v.about))
		}
	}
	for _, s := range exitStatuses {
		if name == fmt.Sprint(s.status) {
			texts = append(texts, fmt.Sprintf("exit status %s: %s\n", name, s.meaning))
		}
	}
	return texts
}

func helpFlag(flag *pflag.Flag) string {
	only := pflag.NewFlagSet("", pflag.ContinueOnError)
	only.AddFlag(flag)
	return helpFlags(only)
}

func formExample(form gagg.Form) string {
	if form.Example == "" {
		return ""
	}
	return fmt.Sprintf("  for example: %s\n", form.Example)
}

// bareName is a name without the arguments that stand behind it: of sum(x) sum.
func bareName(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 {
		return name[:i]
	}
	return name
}

func firstWord(name string) string {
	word, _, _ := strings.Cut(name, " ")
	return word
}

// calledSo reports whether a name stands for something: it is its own name, the first word of
// that, or one of its other names.
func calledSo(called, name string, also []string) bool {
	return slices.ContainsFunc(append([]string{name, firstWord(name)}, also...), func(other string) bool { return strings.EqualFold(called, bareName(other)) })
}

// lookupFlag finds a flag by its name or letter, with dashes or without.
func lookupFlag(f *pflag.FlagSet, name string) *pflag.Flag {
	bare := strings.TrimLeft(name, "-")
	if len(bare) == 1 {
		return f.ShorthandLookup(bare)
	}
	return f.Lookup(bare)
}

// typesOf lists the types of arguments and result, and the other names.
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
	return markdownLink().ReplaceAllString(strings.ReplaceAll(markdown, "`", ""), "")
}

// markdownLink is a reference to another part of the page.
var markdownLink = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,? see \[[^\]]*\]\([^)]*\)`) })

// unknownTopic says what a name may stand for.
func unknownTopic(f *pflag.FlagSet, topic string) error {
	name := strings.ToLower(bareName(strings.TrimLeft(topic, "-")))
	if text := gagg.OtherNames()[name]; text != "" && otherNames[name] == "" && !strings.HasPrefix(topic, "-") {
		return usagef("help %s: other systems have %s; here there is %s", topic, name, strings.TrimPrefix(text, "no window functions: "))
	}
	meant := otherNames[name]
	if meant == "" {
		var names []string
		for _, c := range topicCandidates(f) {
			names = append(names, c.text)
		}
		meant = spelling.Nearest(name, names)
	}
	const none = "there is no flag, aggregate, function, operator, form, type, format, variable or exit status of that name"
	if meant == "" {
		return usagef("help %s: %s; gagg --help lists them", topic, none)
	}
	return usagef("help %s: %s; did you mean %s?", topic, none, meant)
}
