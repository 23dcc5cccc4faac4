package main

// intervals is sums with intervals, and other functions of dates. All results are within the
// years that tables have.
func intervals() (out []operator) {
	for _, k := range "as" {
		of := string(k)
		out = append(out,
			operator{name: "interval", gives: instant, takes: of, gagg: "($0 + interval $P)", draw: span},
			operator{name: "interval", gives: instant, takes: of + "i", gagg: "($0 - $1 * interval $P)", draw: span, bound: smallFactor},
			operator{name: "date_add", gives: instant, takes: of, gagg: "date_add($0, interval $P)", draw: span},
			operator{name: "make_timestamp_ms", gives: instant, takes: of, gagg: "make_timestamp_ms(epoch_ms($0))", draw: toMicros},
			operator{name: "strftime", gives: text, takes: of, gagg: "strftime($0, $P)", draw: format},
			operator{name: "try_strptime", gives: instant, takes: of, gagg: "try_strptime(strftime($0, '%d.%m.%Y %H:%M'), '%d.%m.%Y %H:%M')", draw: toMicros},
			operator{name: "strptime", gives: instant, takes: of, gagg: "strptime(strftime($0, '%m/%d/24 %I %p'), '%m/%d/%y %I %p')", draw: toMicros},
			operator{name: "timezone", gives: instantUTC, takes: of, gagg: "timezone($P, $0)", draw: zone},
		)
	}
	for _, k := range "asz" {
		of := string(k)
		bucket := map[rune]kind{'a': date, 's': instant, 'z': instantUTC}[k]
		out = append(out,
			operator{name: "date_diff", gives: integer, takes: of + of, gagg: "date_diff($P, $0, $1)", draw: unit, bound: within(-1e17, 1e17)},
			operator{name: "date_sub", gives: integer, takes: of + of, gagg: "date_sub($P, $0, $1)", draw: unit, bound: within(-1e17, 1e17)},
			operator{name: "time_bucket", gives: bucket, takes: of, gagg: "time_bucket(interval $P, $0)", draw: width},
			operator{name: "dayname", gives: text, takes: of, gagg: "dayname($0)"},
			operator{name: "monthname", gives: text, takes: of, gagg: "monthname($0)"},
			operator{name: "last_day", gives: date, takes: of, gagg: "last_day($0)"},
		)
	}
	return append(out,
		operator{name: "-", gives: double, takes: "ss", gagg: "epoch($0 - $1)", bound: within(-1e13, 1e13)},
		operator{name: "-", gives: integer, takes: "sa", gagg: "extract(day from $0 - $1)", bound: within(-1e9, 1e9)},
		operator{name: "-", gives: boolean, takes: "ss", gagg: "($0 - $1 > interval $P)", draw: span},
		operator{name: "interval", gives: instantUTC, takes: "z", gagg: "($0 + interval $P)", draw: span},
		operator{name: "+", gives: clock, takes: "T", gagg: "($0 + interval $P)", draw: span},
		operator{name: "timezone", gives: instant, takes: "z", gagg: "($0 at time zone $P)", draw: zone},
		operator{name: "time_bucket", gives: instantUTC, takes: "z", gagg: "time_bucket(interval '1 day', $0, $P)", draw: zone},
		operator{name: "to_timestamp", gives: instantUTC, takes: "i", gagg: "to_timestamp($0)", draw: toMicros, bound: smallSeconds},
		operator{name: "make_date", gives: date, takes: "a", gagg: "make_date(year($0), month($0), 1)"},
		operator{name: "make_time", gives: clock, takes: "T", gagg: "make_time(hour($0), minute($0), second($0))", draw: toMicros},
		operator{name: "make_timestamp", gives: instant, takes: "s", gagg: "make_timestamp(year($0), month($0), day($0), 1, 2, 3.25)", draw: toMicros},
		operator{name: "make_timestamp_ns", gives: boolean, takes: "n", gagg: "(make_timestamp_ns(epoch_ns($0)) = $0)"},
	)
}

// toMicros is a value that keeps microseconds.
func toMicros(_ *generator, e *expr) bool {
	e.perUnit = 6
	return true
}

func span(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "1 month", "-13 months", "1 year 1 day", "30 days", "-1 day 02:03:04.5", "90 minutes", "1 microsecond", "1 quarter -1 week")))
	return toMicros(g, e)
}

func width(g *generator, e *expr) bool {
	widths := []string{"1 month", "5 months", "1 year", "1 week", "3 days", "15 minutes", "1 second"}
	if e.kids[0].kind != instantUTC { // difference daysAndHours
		widths = append(widths, "1 day 7 hours")
	}
	e.fill("$P", quote(pick(g.rng, widths...)))
	return toMicros(g, e)
}

func zone(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "Australia/Lord_Howe", "America/Sao_Paulo")))
	return toMicros(g, e)
}

func unit(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "year", "quarter", "month", "week", "day", "hour", "minute", "second", "decade", "century", "millisecond")))
	return true
}

func format(g *generator, e *expr) bool {
	e.fill("$P", quote(pick(g.rng, "%Y-%m-%d", "%c", "%a %-d %b %y", "%A, %d. %B", "%H:%M:%S.%f", "%I %p %j", "%U %W %u %w", "%x %X %g", "%V")))
	return true
}

// smallFactor is for intervals so many times.
func smallFactor(e *expr) bool { return e.kids[1].magnitude() < 1000 }

// smallSeconds is for seconds since 1970.
func smallSeconds(e *expr) bool { return e.kids[0].magnitude() < 1e11 }
