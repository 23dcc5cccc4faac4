package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gagg-dev/gagg"
)

// writeManual prints the manual page, of the same tables as the help, in the macros of man(7).
func writeManual(w io.Writer, f *pflag.FlagSet, date string) error {
	m := &manual{}
	fmt.Fprintf(&m.text, ".TH GAGG 1 %q %q %q\n", date, "gagg "+version(), "User Commands")
	m.section("Name")
	m.paragraph("gagg - group and aggregate Parquet files")
	m.section("Synopsis")
	m.verbatim(helpUsage)
	m.section("Description")
	m.paragraph(helpInputs)
	m.section("Options")
	f.VisitAll(func(flag *pflag.Flag) { m.option(flag) })
	m.section("Aggregates")
	m.verbatim(helpAggregateRules)
	for _, a := range gagg.Aggregates() {
		m.entry(a.Signature, plainText(a.Doc)+alsoCalled(a.Also)+".")
	}
	m.section("Expressions")
	m.verbatim(helpExpressions)
	for _, form := range gagg.Forms() {
		m.entry(form.Shown, plainText(form.Doc)+".")
	}
	m.paragraph("Operators, those first that bind most tightly:")
	for _, o := range gagg.Operators() {
		m.entry(o.Shown, plainText(o.Doc)+alsoCalled(o.Also)+".")
	}
	m.section("Functions")
	about := ""
	for _, fn := range gagg.Functions() {
		if fn.Section != about {
			about = fn.Section
			fmt.Fprintf(&m.text, ".SS %s\n", roff("Of "+about))
		}
		m.entry(fn.Signature, plainText(fn.Doc)+alsoCalled(fn.Also)+".")
	}
	m.section("Environment")
	m.paragraph(helpVariables)
	m.section("Exit status")
	for _, s := range exitStatuses {
		m.entry(fmt.Sprint(s.status), s.meaning)
	}
	m.section("Examples")
	m.verbatim(helpExamples)
	_, err := io.WriteString(w, m.text.String())
	return err
}

func alsoCalled(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; also called " + strings.Join(names, ", ")
}

// buildDate is the day of the commit that the program was built from; "" if it is not known.
func buildDate() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
			return at.UTC().Format(time.DateOnly)
		}
	}
	return ""
}

// manual is the text of a manual page.
type manual struct {
	text strings.Builder
}

func (m *manual) section(name string) { fmt.Fprintf(&m.text, ".SH %s\n", strings.ToUpper(name)) }

// paragraph writes text whose lines are filled. An empty line begins another paragraph.
func (m *manual) paragraph(text string) {
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.text.WriteString(".PP\n")
		}
		m.fill(part)
	}
}

// fill writes text in lines that are not too long.
func (m *manual) fill(text string) {
	for _, line := range wrapped(roff(text), manualColumns) {
		m.line(line)
	}
}

// line writes a line of text, so that troff does not take it for a request.
func (m *manual) line(line string) {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	m.text.WriteString(line + "\n")
}

// manualColumns is the length of the lines of the page's source.
const manualColumns = 72

// entry writes a name in bold and its description.
func (m *manual) entry(name, text string) {
	fmt.Fprintf(&m.text, ".TP\n\\fB%s\\fR\n", roff(name))
	m.fill(text)
}

// option writes a flag, with the name of its value.
func (m *manual) option(flag *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(flag)
	name := "\\fB" + roff("--"+flag.Name) + "\\fR"
	if flag.Shorthand != "" {
		name = "\\fB" + roff("-"+flag.Shorthand) + "\\fR, " + name
	}
	switch {
	case value == "": // yes or no
	case flag.NoOptDefVal != "":
		name += "[=\\fI" + roff(value) + "\\fR]"
	default:
		name += " \\fI" + roff(value) + "\\fR"
	}
	fmt.Fprintf(&m.text, ".TP\n%s\n", name)
	m.fill(usage + ".")
}

// verbatim writes text without changing its lines.
func (m *manual) verbatim(text string) {
	m.text.WriteString(".nf\n")
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		m.line(roff(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "  ")))
	}
	m.text.WriteString(".fi\n")
}

// roff escapes text for troff.
func roff(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
