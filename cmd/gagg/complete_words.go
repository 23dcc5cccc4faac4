package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// cursor describes the word at the cursor as bash sees it.
type cursor struct {
	cut  int  // bytes of the word before its last part, for which alone a candidate stands
	open byte // the quote in which the word ends; 0: none
}

// shellWords removes quotes and backslashes from typed words, as the shell does. The word at the
// cursor may end within quotes. bash also divides words at = and :, so these parts are joined
// again. fish has already removed the quotes of all words except the one at the cursor.
func shellWords(shell string, typed []string, at int) (words []string, newAt int, c cursor) {
	joins := false // the next word belongs to the one before
	for i, word := range typed {
		if i == at {
			word, c.open = plainWord(word)
		} else if shell != "fish" {
			word, _ = plainWord(word)
		}
		before := len(words) - 1
		divider := shell == "bash" && word != "" && strings.Trim(word, ":=") == ""
		if before >= 0 && (joins || divider && (word[0] != '=' || strings.HasPrefix(words[before], "--"))) {
			if i == at {
				c.cut = len(words[before])
				if divider {
					c.cut += len(word)
				}
			}
			words[before] += word
		} else {
			words = append(words, word)
		}
		if i == at {
			newAt = len(words) - 1
		}
		joins = divider && i != at
	}
	return words, newAt, c
}

// plainWord is a word of a POSIX shell without its quotes, and the quote that is open at its end;
// 0: none.
func plainWord(word string) (text string, open byte) {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		c := word[i]
		switch {
		case open == 0 && (c == '\'' || c == '"'):
			open = c
		case c == open:
			open = 0
		case c == '\\' && open != '\'' && i+1 < len(word) && (open == 0 || strings.IndexByte("\\\"$`", word[i+1]) >= 0):
			i++
			b.WriteByte(word[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), open
}

// inBash spells candidates as bash wants them: each replaces the last part of the word, within its
// quotes. Bash closes the quotes after a single candidate, although an expression may go on there;
// so a second candidate is added, with what may come next. If some candidates need quotes and
// others do not, they have no common beginning, and only those without quotes are kept.
func (l *typedLine) inBash(f *pflag.FlagSet, a answer, c cursor) answer {
	if a.kind == completeParts && len(a.candidates) == 1 && c.open != 0 {
		a.candidates = l.andMore(f, a.candidates[0])
	}
	bare := func(c candidate) bool { return bareWord().MatchString(c.text) }
	if c.open == 0 && slices.ContainsFunc(a.candidates, bare) {
		a.candidates = slices.DeleteFunc(a.candidates, func(c candidate) bool { return !bare(c) })
	}
	for i := range a.candidates {
		text := a.candidates[i].text
		a.candidates[i].text = bashQuoted(text[min(c.cut, len(text)):], c.open)
	}
	return a
}

// andMore is a candidate and those that may follow it.
func (l *typedLine) andMore(f *pflag.FlagSet, only candidate) []candidate {
	next := *l
	next.current = strings.TrimPrefix(only.text, l.before)
	if more := next.answer(f).candidates; len(more) > 1 {
		return more
	}
	closing := ","
	if strings.Count(only.text, "(") > strings.Count(only.text, ")") {
		closing = ")"
	}
	return []candidate{only, {text: only.text + closing}}
}

// bashQuoted is text within the open quote. If no quote is open and text needs one, it opens a
// quote, which stays open.
func bashQuoted(text string, open byte) string {
	switch {
	case open == '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
	case open == 0 && bareWord().MatchString(text):
		return text
	}
	text = strings.ReplaceAll(text, "'", `'\''`)
	if open == 0 {
		return "'" + text
	}
	return text
}
