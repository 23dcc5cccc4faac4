package expr

import (
	"bytes"

	"github.com/gagg-dev/gagg/internal/column"
)

// textFunctions are the functions of texts.
var textFunctions = []function{
	{
		name: "ascii", section: sectionText, params: []param{arg("s", aString)},
		result: gives(column.Type{Kind: column.Int32}), bind: codePoint(0), doc: "the number of the first character; 0 of `''`",
	},
	{
		name: "bit_length", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(int64Type), bind: bitLength, doc: "eight times its bytes",
	},
	{
		name: "chr", section: sectionText, params: []param{arg("n", aCount)},
		result: gives(stringType), bind: character, doc: "the character of that number in Unicode",
	},
	{
		name: "concat", section: sectionText, params: []param{arg("a", aValue)}, more: true,
		result: gives(stringType), nulls: skipNulls, bind: concatenation, doc: "all as text, one behind the other; `''` if all are NULL",
	},
	{
		name: "concat_ws", section: sectionText, params: []param{arg("separator", aString), arg("a", aValue)}, more: true,
		result: gives(stringType), nulls: ownNulls, bind: joined, doc: "all as text with the separator between them; NULL does not count; NULL if the separator is",
	},
	{
		name: "contains", section: sectionText, params: []param{arg("s", aString), arg("part", aString)},
		result: gives(boolType), bind: testPieces(bytes.Contains, func(part string) []string { return []string{"", part, ""} }), doc: "whether the part is in s",
	},
	{
		name: "ends_with", also: []string{"suffix"}, section: sectionText, params: []param{arg("s", aString), arg("end", aString)},
		result: gives(boolType), bind: testPieces(bytes.HasSuffix, func(end string) []string { return []string{"", end} }), doc: "whether s ends so",
	},
	{
		name: "from_base64", section: sectionText, params: []param{arg("s", aString)},
		result: gives(binaryType), bind: ofText(addFromBase64), doc: "the bytes that base64 stands for",
	},
	{
		name: "hex", also: []string{"to_hex"}, section: sectionText, params: []param{arg("x", bitsOrBytes)},
		result: gives(stringType), bind: hexOf, doc: "hexadecimal digits, of the bits of an integer or the bytes of a text",
	},
	{
		name: "left", section: sectionText, params: []param{arg("s", aString), arg("n", aCount)},
		result: gives(stringType), bind: leftOf, doc: "the first n characters; of a negative n all but the last",
	},
	{
		name: "length", also: []string{"len", "char_length", "character_length"}, section: sectionText, params: []param{arg("s", bytesOrList)},
		result: gives(int64Type), bind: length, doc: "characters; bytes of a binary, elements of a list",
	},
	{
		name: "levenshtein", also: []string{"editdist3"}, section: sectionText, params: []param{arg("a", aString), arg("b", aString)},
		result: gives(int64Type), bind: levenshtein, doc: "how many bytes have to be changed, added or removed; of texts up to 16384 bytes",
	},
	{
		name: "lower", also: []string{"lcase"}, section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: lowered, doc: "small letters, character by character",
	},
	{
		name: "lpad", section: sectionText, params: []param{arg("s", aString), arg("n", aCount), arg("by", aString)},
		result: gives(stringType), bind: padded(false), doc: "n characters: the first ones of s, or s behind as much of `by` as is missing; up to 1048576",
	},
	{
		name: "ltrim", section: sectionText, params: []param{arg("s", aString), fixed("characters", aString)}, least: 1,
		result: gives(stringType), bind: trimmed(true, false), doc: "without blanks, or these characters, in front",
	},
	{
		name: "md5", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(stringType), bind: ofText(addMD5), doc: "its MD5 in 32 hexadecimal digits",
	},
	{
		name: "octet_length", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(int64Type), bind: byteLength, doc: "bytes",
	},
	{
		name: "regexp_extract", section: sectionText, least: 2,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("group", anInteger), fixed("flags", aString)},
		result: gives(stringType), bind: regexpExtract,
		doc: "the first match, or of it the group of that number (0 to 9); `''` without a match",
	},
	{
		name: "regexp_full_match", section: sectionText, least: 2,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("flags", aString)},
		result: gives(boolType), bind: regexpFullMatch, doc: "whether the pattern matches the whole text",
	},
	{
		name: "regexp_matches", section: sectionText, least: 2,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("flags", aString)},
		result: gives(boolType), bind: regexpMatches, doc: "whether the pattern matches a part of the text",
	},
	{
		name: "regexp_replace", section: sectionText, least: 3,
		params: []param{arg("s", aString), fixed("pattern", aString), fixed("replacement", aString), fixed("flags", aString)},
		result: gives(stringType), bind: regexpReplace,
		doc: "with the first match replaced, with flag `g` all",
	},
	{
		name: "repeat", section: sectionText, params: []param{arg("s", aString), arg("n", aCount)},
		result: gives(stringType), bind: repeated, doc: "n times s, up to 1048576 bytes",
	},
	{
		name: "replace", section: sectionText, params: []param{arg("s", aString), arg("part", aString), arg("by", aString)},
		result: gives(stringType), bind: replaced, doc: "with the part, wherever it is, replaced",
	},
	{
		name: "reverse", section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: reversed, doc: "from the last character to the first",
	},
	{
		name: "right", section: sectionText, params: []param{arg("s", aString), arg("n", aCount)},
		result: gives(stringType), bind: rightOf, doc: "the last n characters; of a negative n all but the first",
	},
	{
		name: "rpad", section: sectionText, params: []param{arg("s", aString), arg("n", aCount), arg("by", aString)},
		result: gives(stringType), bind: padded(true), doc: "likewise, with `by` behind s",
	},
	{
		name: "rtrim", section: sectionText, params: []param{arg("s", aString), fixed("characters", aString)}, least: 1,
		result: gives(stringType), bind: trimmed(false, true), doc: "without blanks, or these characters, at the end",
	},
	{
		name: "sha1", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(stringType), bind: ofText(addSHA1), doc: "its SHA-1 in 40 hexadecimal digits",
	},
	{
		name: "sha256", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(stringType), bind: ofText(addSHA256), doc: "its SHA-256 in 64 hexadecimal digits",
	},
	{
		name: "split_part", section: sectionText, params: []param{arg("s", aString), arg("separator", aString), arg("n", aCount)},
		result: gives(stringType), bind: splitPart, doc: "the nth of the parts between separators, of a negative n from the end; `''` if there is none",
	},
	{
		name: "starts_with", also: []string{"prefix"}, section: sectionText, params: []param{arg("s", aString), arg("beginning", aString)},
		result: gives(boolType), bind: startsWith, doc: "whether s begins so",
	},
	{
		name: "strlen", section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(int64Type), bind: byteLength, doc: "bytes",
	},
	{
		name: "strpos", also: []string{"instr"}, section: sectionText, params: []param{arg("s", aString), arg("part", aString)},
		result: gives(int64Type), bind: position, doc: "where the part begins, in characters from 1; 0 if it is not there; `position(part in s)` is the same",
	},
	{
		name: "substring", also: []string{"substr"}, section: sectionText, params: []param{arg("s", aString), arg("start", aCount), arg("count", aCount)}, least: 2,
		result: gives(stringType), bind: substring,
		doc: "characters from start on, which counts from 1 or, negative, from the end; a negative count goes backwards; also `substring(s from start for count)`",
	},
	{
		name: "to_base64", also: []string{"base64"}, section: sectionText, params: []param{arg("s", someBytes)},
		result: gives(stringType), bind: ofText(addBase64), doc: "base64 of its bytes",
	},
	{
		name: "translate", section: sectionText, params: []param{arg("s", aString), fixed("from", aString), fixed("to", aString)},
		result: gives(stringType), bind: translated, doc: "each character of `from` exchanged for the one in its place in `to`, or removed if there is none",
	},
	{
		name: "trim", section: sectionText, params: []param{arg("s", aString), fixed("characters", aString)}, least: 1,
		result: gives(stringType), bind: trimmed(true, true), doc: "without blanks, or these characters, at both ends",
	},
	{
		name: "unhex", also: []string{"from_hex"}, section: sectionText, params: []param{arg("s", aString)},
		result: gives(binaryType), bind: ofText(addUnhex), doc: "the bytes that hexadecimal digits stand for",
	},
	{
		name: "unicode", also: []string{"ord"}, section: sectionText, params: []param{arg("s", aString)},
		result: gives(column.Type{Kind: column.Int32}), bind: codePoint(-1), doc: "the number of the first character in Unicode; -1 of `''`",
	},
	{
		name: "upper", also: []string{"ucase"}, section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: mapLetters(capital), doc: "capital letters, character by character",
	},
	{
		name: "url_decode", section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: ofText(addURLDecoded), doc: "`%2F` and the like as what they stand for",
	},
	{
		name: "url_encode", section: sectionText, params: []param{arg("s", aString)},
		result: gives(stringType), bind: ofText(addURLEncoded), doc: "with `%2F` and the like for all but letters, digits and `-._~`",
	},
}
