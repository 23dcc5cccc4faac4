package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// flagChoices are the values that completion offers, by flag. Flags that
// name files are left to the shell.
func flagChoices() map[string]string {
	return map[string]string{
		"format":      formatNames,
		"compression": strings.Join(compressions, " "),
		"device":      "auto cpu gpu",
		"devices":     devicesText + " " + devicesJSON,
		"sample-by":   "rows groups",
		"progress":    "auto always never",
		"completion":  "bash zsh fish",
		"explain":     explainText + " " + explainJSON,
	}
}

// writeCompletion prints a script that completes the flags of f in shell.
func writeCompletion(w io.Writer, shell string, f *pflag.FlagSet) error {
	var script string
	switch shell {
	case "bash":
		script = bashCompletion(f)
	case "zsh":
		script = zshCompletion(f)
	case "fish":
		script = fishCompletion(f)
	default:
		return usagef("--completion %s: want bash, zsh or fish", shell)
	}
	_, err := io.WriteString(w, script)
	return err
}

func bashCompletion(f *pflag.FlagSet) string {
	var flags []string
	var cases strings.Builder
	f.VisitAll(func(flag *pflag.Flag) {
		flags = append(flags, "--"+flag.Name)
		if choices := flagChoices()[flag.Name]; choices != "" {
			if flag.NoOptDefVal != "" { // the value follows = or not at all
				cases.WriteString("    " + spellings(flag, "|") + `) if [[ $equals ]]; then COMPREPLY=($(compgen -W '` + choices + `' -- "$word")); return; fi ;;` + "\n")
				return
			}
			fmt.Fprintf(&cases, "    %s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", spellings(flag, "|"), choices)
		}
	})
	return fmt.Sprintf(`# bash completion for gagg: source <(gagg --completion bash)
_gagg() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} equals=
  if [[ $word == "=" ]]; then word= equals=1; fi
  if [[ $previous == "=" ]]; then previous=${COMP_WORDS[COMP_CWORD-2]} equals=1; fi
  case $previous in
%s  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W '%s' -- "$word"))
    return
  fi
  COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _gagg gagg
`, cases.String(), strings.Join(flags, " "))
}

func zshCompletion(f *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("#compdef gagg\n# zsh completion for gagg: source <(gagg --completion zsh)\n_gagg() {\n  _arguments -s")
	f.VisitAll(func(flag *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(flag)
		value := ""
		switch choices := flagChoices()[flag.Name]; {
		case flag.Value.Type() == "bool":
		case choices != "":
			value = ":" + name + ":(" + choices + ")"
		default:
			value = ":" + name + ":_files"
		}
		help := "[" + zshEscape.Replace(summary(usage)) + "]" + value
		long := "--" + flag.Name
		switch {
		case flag.NoOptDefVal != "" && value != "":
			long += "=-"
			help = strings.Replace(help, "]:", "]::", 1)
		case value != "":
			long += "="
		}
		fmt.Fprintf(&b, " \\\n    '*%s%s'", long, help)
		if flag.Shorthand != "" {
			fmt.Fprintf(&b, " \\\n    '*-%s%s'", flag.Shorthand, help)
		}
	})
	b.WriteString(" \\\n    '*:input:_files'\n}\ncompdef _gagg gagg\n")
	return b.String()
}

// zshEscape makes text fit for the brackets of an _arguments specification
// inside single quotes.
var zshEscape = strings.NewReplacer(`'`, `'\''`, "[", `\[`, "]", `\]`, ":", `\:`)

func fishCompletion(f *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("# fish completion for gagg: gagg --completion fish | source\n")
	f.VisitAll(func(flag *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(flag)
		fmt.Fprintf(&b, "complete -c gagg -l %s", flag.Name)
		if flag.Shorthand != "" {
			fmt.Fprintf(&b, " -s %s", flag.Shorthand)
		}
		if choices := flagChoices()[flag.Name]; choices != "" {
			exclusive := "-x" // a value of its own, and no file
			if flag.NoOptDefVal != "" {
				exclusive = "-f"
			}
			fmt.Fprintf(&b, " %s -a '%s'", exclusive, choices)
		} else if flag.NoOptDefVal == "" {
			b.WriteString(" -r")
		}
		fmt.Fprintf(&b, " -d '%s'\n", fishEscape.Replace(summary(usage)))
	})
	return b.String()
}

var fishEscape = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

// summary is the first clause of a usage text.
func summary(usage string) string {
	if i := strings.IndexAny(usage, ":;("); i > 0 {
		usage = usage[:i]
	}
	return strings.TrimSpace(usage)
}

// spellings lists the ways to write a flag.
func spellings(flag *pflag.Flag, separator string) string {
	if flag.Shorthand == "" {
		return "--" + flag.Name
	}
	return "-" + flag.Shorthand + separator + "--" + flag.Name
}
