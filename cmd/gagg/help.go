package main

import (
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/gagg-dev/gagg"
)

// formats are the values of --format, as they are typed.
var formats = []struct{ name, about string }{
	{"parquet", "Apache Parquet, which keeps types; see --compression"},
	{"csv", "text with a header and commas; NULL is an empty field, see --null"},
	{"tsv", "likewise, with tabs"},
	{"json", "one array with an object for each row"},
	{"ndjson", "an object for each row, each in a line of its own"},
	{"arrow", "Apache Arrow IPC, a file; a stream into a pipe"},
	{"markdown", "a table of Markdown"},
	{"table", "a table with frames, for a terminal; see --bar"},
	{"none", "no output; for measuring"},
}

// formatNames are their names.
func formatNames() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// These parts of the help are in the manual page too.
const (
	helpUsage = `
  gagg [-k KEYS] [-a AGGREGATES] [flags] INPUT...
  gagg help [FLAG, AGGREGATE, FUNCTION, FORM, TYPE, FORMAT, GAGG_… or STATUS]
`
	helpInputs = `An INPUT is a Parquet or Arrow IPC file, a folder (all Parquet files below it), a
glob (** crosses folders), a URL (https:// s3:// gs://), a pipe such as <(…), or
- for stdin. Many inputs are one table.
`
	helpExamples = `
  gagg -k id1,id2 -a 'sum(v1), mean(v3) as m' data/*.parquet -o out.parquet
  gagg -k city -a 'count(*) as n' --where 'fare > 10' --order-by -n --limit 5 taxi/
  gagg --schema data/*.parquet
  gagg --summarize --sample 1% data/*.parquet
  gagg -k city -a 'median(fare)' --partial --part 1/8 -o 1.state taxi/
  gagg --merge *.state -o fares.parquet
`
	helpAggregateRules = `
  each with "filter (where …)" if wanted. They pass over NULL; sum(distinct x),
  avg(distinct x) and others take each different value once. In an order:
  list(x order by y desc) string_agg(x, ', ' order by y) arg_max(a,b,n)
  grouping(key): 1 in rows whose grouping set leaves the key out, else 0
`
	helpExpressions = `
  'text' 1 2.5 1e3 true null date '2024-01-31' timestamp '2024-01-31 12:00:00'
  column "a column" struct.field #3 (the third column)
`
	helpVariables = `Flags also come from variables: GAGG_MEMORY_LIMIT=4GiB stands for
--memory-limit 4GiB. The command line wins.
`
)

// helpColumns is the width of the help text, which fits any terminal.
const helpColumns = 80

func writeHelp(w io.Writer, f *pflag.FlagSet) error {
	_, err := io.WriteString(w, "gagg groups and aggregates Parquet files.\n\nUsage:"+helpUsage+"\n"+helpInputs+"\nExamples:"+helpExamples+
		helpAggregates()+helpAggregateRules+"\nExpressions (keys, arguments, conditions):"+helpExpressions+helpForms()+helpOperators()+helpFunctions()+
		"\nFlags:\n"+helpFlags(f)+"\n"+helpVariables+helpStatuses())
	return err
}

// helpStatuses lists the exit statuses.
func helpStatuses() string {
	var all []string
	for _, s := range exitStatuses {
		all = append(all, fmt.Sprint(s.status)+" "+s.meaning)
	}
	return "\nExit status:\n  " + strings.Join(wrapped(strings.Join(all, "; "), helpColumns-2), "\n  ") + "\n"
}

// wrapped is text in lines of at most that many characters, except for longer words.
func wrapped(text string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// helpFlags explains flags.
func helpFlags(f *pflag.FlagSet) string {
	return regexp.MustCompile(optionalValue).ReplaceAllStringFunc(f.FlagUsagesWrapped(helpColumns), plainOptional)
}

// helpAggregates shows the aggregates.
func helpAggregates() string {
	var b strings.Builder
	b.WriteString("\nAggregates:\n ")
	column := 1
	write := func(shown string) {
		if column+1+len(shown) > helpColumns {
			b.WriteString("\n ")
			column = 1
		}
		b.WriteString(" " + shown)
		column += 1 + len(shown)
	}
	write("count(*)")
	for _, a := range gagg.Aggregates() {
		switch a.Name {
		case "count":
			write(a.Signature)
		case "grouping": // has a line of its own
		default:
			write(strings.TrimSuffix(a.Signature, "(x)"))
		}
	}
	return b.String() + ";"
}

// helpForms shows the forms that the other parts of the help do not show.
func helpForms() string {
	var b strings.Builder
	for _, f := range gagg.Forms() {
		switch f.Name {
		case "literal", "column", "as", "filter", "distinct", "order by":
		default:
			b.WriteString("  " + f.Shown + "\n")
		}
	}
	return b.String()
}

// helpOperators shows the operators, in falling precedence.
func helpOperators() string {
	const blank = "\x00" // at which no line is broken
	var shown []string
	for _, o := range gagg.Operators() {
		shown = append(shown, strings.ReplaceAll(o.Shown, " ", blank))
	}
	lines := strings.Join(wrapped(strings.Join(shown, ", "), helpColumns-4), "\n    ")
	return "  operators, the first bind most tightly:\n    " + strings.ReplaceAll(lines, blank, " ") + "\n"
}

// helpFunctions names the scalar functions, by subject.
func helpFunctions() string {
	var b strings.Builder
	section, column := "", 0
	for _, f := range gagg.Functions() {
		if f.Section != section {
			section, column = f.Section, helpColumns
			fmt.Fprintf(&b, "\n  functions of %s:", section)
		}
		if column+1+len(f.Name) > helpColumns {
			b.WriteString("\n   ")
			column = 3
		}
		b.WriteString(" " + f.Name)
		column += 1 + len(f.Name)
	}
	return strings.TrimPrefix(b.String(), "\n") + "\n"
}

// optionalValue is how pflag shows a value that may be left out.
const optionalValue = ` (\w+)\[="[^"]*"\]`

// plainOptional shows a part that matches optionalValue as [=value], in the same width.
func plainOptional(shown string) string {
	value, _, _ := strings.Cut(strings.TrimSpace(shown), "[")
	return fmt.Sprintf("%-*s", len(shown), "[="+value+"]")
}

func writeVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "gagg %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is the module version of a released build, else the revision that
// the working tree was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision[:min(12, len(revision))] + dirty
}
