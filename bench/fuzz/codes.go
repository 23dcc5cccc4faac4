package main

// codes is functions of bits, of angles, and of texts as bytes.
var codes = []operator{
	{name: "&", gives: integer, takes: "ii", gagg: "($0 & $1)", duck: "($0::bigint & $1::bigint)", bound: anyBits, why: narrowIntegers},
	{name: "|", gives: integer, takes: "ii", gagg: "($0 | $1)", duck: "($0::bigint | $1::bigint)", bound: anyBits, why: narrowIntegers},
	{name: "xor", gives: integer, takes: "ii", gagg: "xor($0, $1)", duck: "xor($0::bigint, $1::bigint)", bound: anyBits, why: narrowIntegers},
	{name: "~", gives: integer, takes: "i", gagg: "(~ ($0 + 0))", duck: "(~ $0::bigint)", bound: anyBits, why: narrowIntegers},
	{name: ">>", gives: integer, takes: "i", gagg: "($0 >> $P)", duck: "($0::bigint >> $P)", draw: smallNumber, bound: anyBits, why: narrowIntegers},
	{name: "<<", gives: integer, takes: "i", gagg: "(abs($0) % 1000 << 7)", duck: "(abs($0::bigint) % 1000 << 7)", bound: within(0, 1e6), why: narrowIntegers},
	{name: "bit_count", gives: integer, takes: "i", gagg: "bit_count($0 + 0)", duck: "bit_count($0::bigint)", bound: within(0, 64), why: narrowIntegers},
	{name: "gcd", gives: integer, takes: "ii", gagg: "gcd($0 // 2, $1 // 2)", duck: "gcd($0::bigint // 2, $1::bigint // 2)", bound: gcdBound, why: narrowIntegers},
	{name: "lcm", gives: integer, takes: "ii", gagg: "lcm($0 % 1000, $1 % 1000)", duck: "lcm($0::bigint % 1000, $1::bigint % 1000)", bound: within(0, 1e6), why: narrowIntegers},
	{name: "mod", gives: integer, takes: "i", gagg: "mod($0, 7)", duck: "mod($0::bigint, 7)", bound: within(-7, 7), why: narrowIntegers},
	{name: "isnan", gives: boolean, takes: "D", gagg: "isnan($0)"},
	{name: "isinf", gives: boolean, takes: "f", gagg: "isinf($0)"},
	{name: "isfinite", gives: boolean, takes: "D", gagg: "isfinite($0)"},
	{name: "cbrt", gives: double, takes: "D", gagg: "round(cbrt($0), 6)", bound: smallExponent},
	{name: "degrees", gives: double, takes: "D", gagg: "degrees($0)", bound: ordinary},
	{name: "radians", gives: double, takes: "D", gagg: "radians($0)", bound: ordinary},
	{name: "atan", gives: double, takes: "D", gagg: "round(atan($0), 6)", bound: ordinary},
	{name: "atan2", gives: double, takes: "DD", gagg: "round(atan2(abs($0) + pi(), abs($1)), 6)", bound: ordinary},
	{name: "sin", gives: double, takes: "D", gagg: "round(sin($0) + cos($0), 6)", bound: smallExponent},
	{name: "cos", gives: double, takes: "D", gagg: "round(cos($0), 6)", bound: smallExponent},
	{name: "tan", gives: double, takes: "D", gagg: "round(tan(atan($0)), 6)", bound: smallExponent},
	{name: "cot", gives: double, takes: "D", gagg: "round(cot(abs($0) / 100 + 1), 6)", bound: smallExponent},
	{name: "acos", gives: double, takes: "D", gagg: "round(acos(1 / (1 + abs($0))), 6)", bound: ordinary},
	{name: "asin", gives: double, takes: "D", gagg: "round(asin(1 / (1 + abs($0))), 6)", bound: ordinary},
	{name: "pi", gives: double, takes: "D", gagg: "($0 + pi())", bound: ordinary},
	{name: "if", gives: anything, takes: "bxx", gagg: "if($0, $1, $2)", bound: fewDigits},
	{name: "ascii", gives: integer, takes: "t", gagg: "ascii($0)", bound: within(0, 2e6)},
	{name: "unicode", gives: integer, takes: "t", gagg: "unicode($0)", bound: within(-1, 2e6)},
	{name: "chr", gives: text, takes: "i", gagg: "chr(abs($0) % 1000 + 1)", duck: "chr((abs($0::bigint) % 1000 + 1)::int)", bound: subtractable, why: narrowIntegers},
	{name: "bit_length", gives: integer, takes: "t", gagg: "bit_length($0)", bound: within(0, 1e7)},
	{name: "octet_length", gives: integer, takes: "B", gagg: "octet_length($0)", bound: within(0, 1e6)},
	{name: "concat_ws", gives: text, takes: "tti", gagg: "concat_ws('-', $0, $1, $2)"},
	{name: "concat_ws", gives: text, takes: "tt", gagg: "concat_ws($0, $1, 'é')"},
	{name: "repeat", gives: text, takes: "t", gagg: "repeat(left($0, 20), 3)"},
	{name: "translate", gives: text, takes: "t", gagg: "translate($0, 'abé=', 'xy')"},
	{name: "levenshtein", gives: integer, takes: "tt", gagg: "levenshtein(left($0, 20), left($1, 20))", bound: within(0, 100)},
	{name: "hex", gives: text, takes: "t", gagg: "hex($0)"},
	{name: "hex", gives: text, takes: "B", gagg: "hex($0)"},
	{name: "hex", gives: text, takes: "i", gagg: "hex($0 + 0)", duck: "hex($0::bigint)", why: narrowIntegers},
	{name: "unhex", gives: boolean, takes: "B", gagg: "(unhex(hex($0)) = $0)"},
	{name: "to_base64", gives: text, takes: "B", gagg: "to_base64($0)"},
	{name: "from_base64", gives: boolean, takes: "B", gagg: "(from_base64(to_base64($0)) = $0)"},
	{name: "md5", gives: text, takes: "t", gagg: "md5($0)"},
	{name: "sha1", gives: text, takes: "t", gagg: "sha1($0)"},
	{name: "sha256", gives: text, takes: "B", gagg: "sha256($0)"},
	{name: "url_encode", gives: text, takes: "t", gagg: "url_encode($0)"},
	{name: "url_decode", gives: text, takes: "t", gagg: "url_decode(url_encode($0))"},
	{name: "like", gives: boolean, takes: "t", gagg: "($0 like $P escape 'a')", draw: escaped},
	{name: "similar to", gives: boolean, takes: "t", gagg: "($0 similar to $P)", draw: expression},
}

func anyBits(e *expr) bool { return e.kids[0].magnitude() < 4e18 && e.bounds(-4e18, 4e18) }

func gcdBound(e *expr) bool { return e.bounds(0, max(e.kids[0].magnitude(), e.kids[1].magnitude())) }

func subtractable(e *expr) bool { return e.kids[0].magnitude() < 4e18 }

func escaped(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "%aab%", "a%", "_b%", "%a_%", "%c", "a=%")))
	return true
}
