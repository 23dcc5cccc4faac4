package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gagg-dev/gagg"
)

// completionTime is how long completion waits for the columns of the inputs: a user who presses a
// key does not want to wait.
const completionTime = 800 * time.Millisecond

// These say what a shell does with the candidates. They are the first line of the answer.
const (
	completeWords   = "words"   // a space follows the only one
	completeParts   = "parts"   // none does: of an expression there may be more
	completeFiles   = "files"   // no words: the shell completes names of files
	completeFolders = "folders" // the same
)

// candidate is what the word at the cursor may become.
type candidate struct {
	text, about string
}

// answer is the answer for the word at the cursor.
type answer struct {
	kind       string
	candidates []candidate
}

// complete answers a script of completion.go. Its arguments are the shell, the number of the word
// at the cursor, and the words behind the command as they are typed. It reports no mistakes: it
// gives no candidates then.
func (c *command) complete(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return nil
	}
	at, err := strconv.Atoi(args[1])
	if err != nil || at < 0 || at >= len(args)-2 {
		return nil
	}
	words, at, cursor := shellWords(args[0], args[2:], at)
	f := flagSet(&c.settings)
	line := readLine(f, words, at)
	line.columns = func() []gagg.ColumnDescription { return c.columnsOf(ctx, line.inputs) }
	line.merged = func() []string { return c.mergedColumns(ctx, line.inputs) }
	a := line.answer(f)
	if args[0] == "bash" {
		a = line.inBash(f, a, cursor)
	}
	text := a.kind + "\n"
	for _, one := range a.candidates {
		text += oneLine(one.text) + "\t" + oneLine(one.about) + "\n"
	}
	_, err = io.WriteString(c.out, text)
	return err
}

// columnsOf returns the columns of inputs that can be read more than once, if that takes little
// time.
func (c *command) columnsOf(ctx context.Context, inputs []string) []gagg.ColumnDescription {
	columns := soon(ctx, c, inputs, func(ctx context.Context, from gagg.Source, o gagg.Options) []gagg.ColumnDescription {
		d, err := gagg.Describe(ctx, from, o)
		if err != nil {
			return nil
		}
		return d.Columns
	})
	return slices.DeleteFunc(columns, func(d gagg.ColumnDescription) bool { return d.Type == "" })
}

// mergedColumns returns the names of the columns that --merge makes of the states in the inputs.
func (c *command) mergedColumns(ctx context.Context, inputs []string) []string {
	return soon(ctx, c, inputs, func(ctx context.Context, from gagg.Source, o gagg.Options) (names []string) {
		plan, err := gagg.Plan(ctx, gagg.Query{From: gagg.Merge(from)}, o)
		if err != nil {
			return nil
		}
		for _, column := range plan.Output { // name: type
			names = append(names, gagg.ColumnText(column[:max(strings.LastIndex(column, ": "), 0)]))
		}
		return names
	})
}

// soon returns what ask finds out about inputs that can be read more than once, or nothing if that
// takes long.
func soon[T any](ctx context.Context, c *command, inputs []string, ask func(context.Context, gagg.Source, gagg.Options) []T) []T {
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	var readable []string
	for _, input := range inputs {
		if home, under := strings.CutPrefix(input, "~/"); under {
			input = filepath.Join(c.variable("HOME"), home)
		}
		info, err := os.Stat(input)
		pattern := strings.ContainsAny(input, "*?[") || strings.Contains(input, "://")
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) || err != nil && pattern {
			readable = append(readable, input)
		}
	}
	if len(readable) == 0 {
		return nil
	}
	c.inputs, c.quiet, c.device, c.unionByName = readable, true, "cpu", true
	o, err := c.libraryOptions(io.Discard)
	if err != nil {
		return nil
	}
	if o.Transport, err = c.transport(); err != nil {
		return nil
	}
	if o.Stores, err = c.stores(); err != nil {
		return nil
	}
	found := make(chan []T, 1)
	go func() { found <- ask(ctx, gagg.Files(readable...), o) }()
	select {
	case all := <-found:
		return all
	case <-ctx.Done(): // the process ends now, though a disk may not have answered
		return nil
	}
}

// typedLine is a command line as far as it is typed.
type typedLine struct {
	inputs  []string
	values  map[string][]string // of flags
	current string              // the word at the cursor, or its part that is the value of a flag
	flag    *pflag.Flag         // the flag whose value is at the cursor; nil: none
	before  string              // of the word, if the value of the flag is in it: --by=
	isFlag  bool                // the name of a flag is at the cursor
	first   bool                // the word at the cursor is the first one
	merges  bool                // --merge is there
	columns func() []gagg.ColumnDescription
	merged  func() []string // columns of the result of merging
}

// readLine reads words as pflag does, but accepts mistakes. It does not assign the word at the
// cursor to a flag.
func readLine(f *pflag.FlagSet, words []string, at int) *typedLine {
	l := &typedLine{values: map[string][]string{}, first: at == 0}
	var waiting *pflag.Flag // for its value, the next word
	onlyInputs := false
	for i, word := range words {
		flag, value, before := waiting, word, ""
		waiting = nil
		switch {
		case flag != nil:
		case onlyInputs, word == "-", !strings.HasPrefix(word, "-"):
			if i != at {
				l.inputs = append(l.inputs, word)
			}
		case word == "--" && i != at:
			onlyInputs = true
			continue
		default:
			flag, before, value = flagOf(f, word)
		}
		switch {
		case i == at:
			l.current, l.flag, l.before = value, flag, before
			if bare := before == word && !strings.HasSuffix(word, "="); before != "" && bare || flag == nil && strings.HasPrefix(word, "-") && !onlyInputs {
				l.current, l.flag, l.before, l.isFlag = word, nil, "", true
			}
		case before != "" && before == word && !strings.HasSuffix(word, "="):
			if flag.NoOptDefVal == "" {
				waiting = flag
			}
			l.merges = l.merges || flag.Name == "merge"
		case flag != nil:
			l.values[flag.Name] = append(l.values[flag.Name], value)
		}
	}
	return l
}

// flagOf returns the flag that a word names (nil: none), and the two parts of the word: up to the
// value and the value. Among letters that stand together only the last one may have a value.
func flagOf(f *pflag.FlagSet, word string) (flag *pflag.Flag, before, value string) {
	if name, long := strings.CutPrefix(word, "--"); long {
		name, value, has := strings.Cut(name, "=")
		if has {
			return f.Lookup(name), "--" + name + "=", value
		}
		return f.Lookup(name), word, ""
	}
	for i := 1; i < len(word); i++ {
		flag := f.ShorthandLookup(word[i : i+1])
		if flag == nil {
			return nil, "", word
		}
		if flag.NoOptDefVal == "" || i == len(word)-1 {
			return flag, word[:i+1], word[i+1:]
		}
	}
	return nil, "", word
}

// answer finds what may stand at the cursor. The name of a flag's value, in its usage, says what
// the flag takes.
func (l *typedLine) answer(f *pflag.FlagSet) answer {
	switch {
	case l.isFlag:
		return answer{completeWords, l.matching(flagCandidates(f))}
	case l.flag == nil && len(l.inputs) > 0 && l.inputs[0] == "help":
		return answer{completeWords, l.matching(topicCandidates(f))}
	case l.flag == nil && l.first && l.current != "" && strings.HasPrefix("help", l.current) && !beginsFile(l.current):
		return answer{completeWords, []candidate{{"help", "explains a name"}}}
	case l.flag == nil:
		return answer{kind: completeFiles}
	}
	if choices := flagChoices()[l.flag.Name]; choices != nil {
		return answer{completeWords, l.matching(choices)}
	}
	switch what, _ := pflag.UnquoteUsage(l.flag); what {
	case "list", "expr", "key", "column":
		return answer{completeParts, l.inExpression()}
	case "file", "path":
		return answer{kind: completeFiles}
	case "folder":
		return answer{kind: completeFolders}
	}
	return answer{kind: completeWords}
}

// beginsFile reports whether there is a file whose name begins so.
func beginsFile(name string) bool {
	entries, _ := os.ReadDir(".") // a folder that cannot be read has no names to offer
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), name) })
}

// matching returns the candidates that begin as the word does. After --by= they begin with that
// too.
func (l *typedLine) matching(all []candidate) (matching []candidate) {
	for _, c := range all {
		if strings.HasPrefix(c.text, l.current) {
			matching = append(matching, candidate{l.before + c.text, c.about})
		}
	}
	return matching
}

func flagCandidates(f *pflag.FlagSet) (flags []candidate) {
	f.VisitAll(func(flag *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(flag)
		flags = append(flags, candidate{"--" + flag.Name, summary(usage)})
	})
	return flags
}

// topicCandidates are the topics that gagg help explains.
func topicCandidates(f *pflag.FlagSet) (topics []candidate) {
	for _, flag := range flagCandidates(f) {
		topics = append(topics, candidate{strings.TrimPrefix(flag.text, "--"), flag.about})
	}
	for _, a := range gagg.Aggregates() {
		topics = append(topics, candidate{a.Name, summary(plainText(a.Doc))})
	}
	for _, fn := range gagg.Functions() {
		topics = append(topics, candidate{fn.Name, summary(plainText(fn.Doc))})
	}
	for _, form := range gagg.Forms() {
		topics = append(topics, candidate{firstWord(form.Name), form.Shown})
	}
	topics = append(topics, operatorCandidates()...)
	for _, t := range gagg.CastTypes() {
		topics = append(topics, candidate{bareName(t.Casts[0]), "a type"})
	}
	topics = append(topics, formatCandidates()...)
	for _, name := range variableNames(f) {
		topics = append(topics, candidate{name, "a variable"})
	}
	for _, s := range exitStatuses {
		topics = append(topics, candidate{strconv.Itoa(s.status), s.meaning})
	}
	return topics
}

func formatCandidates() (list []candidate) {
	for _, f := range formats {
		list = append(list, candidate{f.name, summary(f.about)})
	}
	return list
}

// flagChoices are the values of flags that take only a few.
func flagChoices() map[string][]candidate {
	return map[string][]candidate{
		"format":      formatCandidates(),
		"compression": choices(compressions...),
		"device":      append(choices("auto", "cpu", "gpu"), deviceNumbers()...),
		"devices":     choices(devicesText, devicesJSON),
		"sample-by":   choices("rows", "groups"),
		"progress":    choices("auto", "always", "never"),
		"completion":  choices("bash", "zsh", "fish"),
		"explain":     choices(explainText, explainJSON),
	}
}

func choices(values ...string) (list []candidate) {
	for _, value := range values {
		list = append(list, candidate{text: value})
	}
	return list
}

// deviceNumbers are the numbers of the GPUs for which the driver has files. Opening the driver
// would take too long here.
func deviceNumbers() []candidate {
	files, _ := filepath.Glob("/dev/nvidia[0-9]*") // the pattern is a constant
	for i, file := range files {
		files[i] = strings.TrimPrefix(file, "/dev/nvidia")
	}
	return choices(files...)
}

// summary is the first clause of a text.
func summary(text string) string {
	if i := strings.IndexAny(text, ":;("); i > 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}
