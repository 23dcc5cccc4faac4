package main

import (
	"io"
	"strings"
)

// completeWord is the first argument with which the scripts below ask for candidates. It is no
// command for people: only these scripts and complete.go know its arguments and its output.
const completeWord = "__complete"

// writeCompletion prints a script that has the words of a command line completed in shell.
func writeCompletion(w io.Writer, shell string) error {
	script, ok := completionScripts[shell]
	if !ok {
		return usagef("--completion %s: want bash, zsh or fish", shell)
	}
	_, err := io.WriteString(w, strings.ReplaceAll(script, "COMPLETE", completeWord))
	return err
}

// completionScripts pass the words to gagg itself, which knows the columns of the files among
// them. The first line of its answer says what else the shell does (see the kinds in complete.go).
// The other lines are candidates, a tab and a description. If gagg fails, there are no candidates.
var completionScripts = map[string]string{
	"bash": `# bash completion for gagg: source <(gagg --completion bash)
_gagg() {
  local IFS=$'\n' lines line
  COMPREPLY=()
  lines=($("${COMP_WORDS[0]/#\~\//$HOME/}" COMPLETE bash "$((COMP_CWORD - 1))" "${COMP_WORDS[@]:1}" 2>/dev/null))
  case ${lines[0]} in
    files) return ;;
    folders) compopt -o dirnames +o default 2>/dev/null; return ;;
    parts) compopt -o nospace +o default 2>/dev/null ;;
    *) compopt +o default 2>/dev/null ;;
  esac
  for line in "${lines[@]:1}"; do COMPREPLY+=("${line%%$'\t'*}"); done
}
complete -o default -F _gagg gagg
`,
	"zsh": `#compdef gagg
# zsh completion for gagg: source <(gagg --completion zsh), after compinit
_gagg() {
  local -a lines candidates shown end
  local line typed=("${(@)words[2,-1]}")
  typed[CURRENT-1]=$QIPREFIX$PREFIX
  lines=("${(@f)$("${words[1]/#\~\//$HOME/}" COMPLETE zsh $((CURRENT - 2)) "${(@)typed}" 2>/dev/null)}")
  case $lines[1] in
    files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files; return ;;
    folders) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/; return ;;
    parts) end=(-S '') ;;
  esac
  for line in "${(@)lines[2,-1]}"; do
    candidates+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  (( $#candidates )) && compadd "${(@)end}" -l -d shown -a candidates
}
if [[ $funcstack[1] == _gagg ]]; then _gagg "$@"; else compdef _gagg gagg; fi
`,
	"fish": `# fish completion for gagg: gagg --completion fish | source
function __gagg_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l after (commandline -op)
    set -l next (math (count $before) + 1)
    test -n "$current"; and set next (math $next + 1)
    set -l lines ($before[1] COMPLETE fish (math (count $before) - 1) $before[2..] "$current" $after[$next..] 2>/dev/null)
    set -l flag (string match -r -- '^--[^=]*=' "$current")
    switch "$lines[1]"
        case files
            for path in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
                echo -- "$flag$path"
            end
        case folders
            for path in (__fish_complete_directories (string replace -r -- '^--[^=]*=' '' "$current") '')
                echo -- "$flag$path"
            end
        case '*'
            printf '%s\n' $lines[2..]
    end
end
complete -c gagg -f -k -a '(__gagg_complete)'
`,
}
