package datagen

import (
	"cmp"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// hitColumn is a column of Hits: a number or a text that follows from a hit.
type hitColumn struct {
	name   string
	node   parquet.Node
	number func(h *hit) int64
	text   func(b []byte, h *hit) []byte // appends it
}

// hitsSchema is the columns, required and with dictionaries.
func hitsSchema(columns []hitColumn) *parquet.Schema {
	group := parquet.Group{}
	for _, c := range columns {
		group[c.name] = parquet.Encoded(c.node, &parquet.RLEDictionary)
	}
	return parquet.NewSchema("hits", group)
}

// firstPages is how many bytes of text a page has until the dictionary may be
// full: a writer gives it up between pages only.
const firstPages = hitsPage / 8

// write writes column number c of a row group.
func (column hitColumn) write(out *parquet.ColumnWriter, c int, hits []hit) error {
	var chunk [drawChunk]parquet.Value
	var text []byte
	wide := column.node.Type().Kind() == parquet.Int64
	written, page := 0, 0
	for len(hits) > 0 {
		n := min(len(hits), drawChunk)
		text = text[:0]
		for i := range n {
			switch h := &hits[i]; {
			case column.text != nil:
				before := len(text)
				text = column.text(text, h)
				chunk[i] = parquet.ByteArrayValue(text[before:])
			case wide:
				chunk[i] = parquet.Int64Value(column.number(h))
			default:
				chunk[i] = parquet.Int32Value(int32(column.number(h)))
			}
			chunk[i] = chunk[i].Level(0, 0, c)
		}
		if _, err := out.WriteRowValues(chunk[:n]); err != nil {
			return err
		}
		page += len(text)
		if page > firstPages && written < 2*hitsPage {
			if err := out.Flush(); err != nil {
				return err
			}
			written, page = written+page, 0
		}
		hits = hits[n:]
	}
	return nil
}

// roll is a random number below n that is of the hit and the column alone.
func (h *hit) roll(column, n uint64) uint64 { return scramble(h.dice^scramble(column)) % n }

// ofUser is a random number below n that is of the user and the column alone.
func (h *hit) ofUser(column, n uint64) uint64 { return scramble(h.user^scramble(column+1000)) % n }

// share is x of 10,000 with a skew: place i of n has the share of the i-th
// weight, and the places behind the weights share the rest.
func share(x uint64, weights []uint64, n uint64) int64 {
	at := x % 10000
	for i, w := range weights {
		if at < w {
			return int64(i)
		}
		at -= w
	}
	return int64(uint64(len(weights)) + x/10000%(n-uint64(len(weights))))
}

// hitsColumns is the columns in alphabetical order, as the schema has them.
func hitsColumns() []hitColumn {
	columns := slices.Concat(askedNumbers(), askedTexts(), otherColumns())
	slices.SortFunc(columns, func(a, b hitColumn) int { return cmp.Compare(a.name, b.name) })
	return columns
}

func shortColumn(name string, number func(h *hit) int64) hitColumn {
	return hitColumn{name: name, node: parquet.Int(16), number: number}
}

func intColumn(name string, number func(h *hit) int64) hitColumn {
	return hitColumn{name: name, node: parquet.Int(32), number: number}
}

func longColumn(name string, number func(h *hit) int64) hitColumn {
	return hitColumn{name: name, node: parquet.Int(64), number: number}
}

func timeColumn(name string, seconds func(h *hit) int64) hitColumn {
	node := parquet.TimestampAdjusted(parquet.Microsecond, false)
	return hitColumn{name: name, node: node, number: func(h *hit) int64 { return seconds(h) * 1e6 }}
}

func textColumn(name string, text func(b []byte, h *hit) []byte) hitColumn {
	return hitColumn{name: name, node: parquet.String(), text: text}
}

// Shares of 10,000, as published or guessed: of regions, of window widths, of
// the advertising engines among the hits that have one.
var (
	regions    = []int64{229, 2, 208, 169, 32, 34, 184, 42, 107, 51, 158, 55}
	regionsOf  = []uint64{1830, 669, 426, 332, 184, 179, 176, 154, 152, 144, 120, 110}
	widths     = []int64{1638, 1368, 1917, 1396, 1594, 1087, 1750, 1297, 1828, 0}
	widthsOf   = []uint64{2700, 2300, 1500, 900, 800, 700, 300, 250, 250, 100}
	engines    = []int64{2, 27, 13, 45, 44, 3, 62, 52, 50, 28, 53, 25, 61, 21, 42, 16, 7, 22}
	enginesOf  = []uint64{6417, 1795, 724, 618, 154, 109, 84, 56, 15, 13, 6, 5, 2, 1}
	searchesOf = []uint64{0, 0, 6800, 2300, 400, 300}
	sourcesOf  = []uint64{4300, 2400, 0, 1500, 300, 400, 500, 600}
)

// of is the value at a place; behind the values come numbers from 300 on.
func of(values []int64, place int64) int64 {
	if place < int64(len(values)) {
		return values[place]
	}
	return 300 + place
}

// The hashes that two questions ask for: of the front page of the site 62.
const (
	urlHash62     = 2868770270353813622
	refererHash62 = 3594120000172545465
)

func (p pageAt) hash(ofFront int64) int64 {
	if p == (pageAt{62, 0}) {
		return ofFront
	}
	return int64(scramble(uint64(uint32(p.site))<<32 | uint64(p.number)))
}

// askedNumbers is the numbers that questions are about.
func askedNumbers() []hitColumn {
	return []hitColumn{
		longColumn("WatchID", func(h *hit) int64 { return int64(scramble(h.number)>>2 | 1<<62) }),
		timeColumn("EventTime", func(h *hit) int64 { return h.at }),
		{name: "EventDate", node: parquet.Date(), number: func(h *hit) int64 { return min(h.at/secondsPerDay, hitsFirstDay+hitsDays-1) }},
		intColumn("CounterID", func(h *hit) int64 { return int64(h.site) }),
		intColumn("ClientIP", func(h *hit) int64 { return int64(int32(scramble(h.user*4/7 + 1<<41))) }),
		intColumn("RegionID", func(h *hit) int64 { return of(regions, share(h.ofUser(2, 1<<40), regionsOf, 9040)) }),
		longColumn("UserID", func(h *hit) int64 { return int64(scramble(h.user+1<<40) >> 1) }),
		shortColumn("IsRefresh", func(h *hit) int64 { return below(h.roll(1, 1000), 120) }),
		shortColumn("ResolutionWidth", func(h *hit) int64 { return of(widths, share(h.ofUser(3, 1<<40), widthsOf, 3000)) }),
		shortColumn("MobilePhone", mobilePhone),
		shortColumn("TraficSourceID", traficSource),
		shortColumn("SearchEngineID", func(h *hit) int64 {
			if h.phrase == 0 {
				return 0
			}
			return share(h.roll(3, 1<<40), searchesOf, 90)
		}),
		shortColumn("AdvEngineID", func(h *hit) int64 {
			if h.roll(4, 100_000) >= 630 {
				return 0
			}
			return of(engines, share(h.roll(5, 1<<40), enginesOf, uint64(len(engines))))
		}),
		shortColumn("WindowClientWidth", func(h *hit) int64 { return 900 + int64(h.ofUser(4, 50)*20+h.roll(6, 20)) }),
		shortColumn("WindowClientHeight", func(h *hit) int64 { return 400 + int64(h.ofUser(5, 30)*20+h.roll(7, 20)) }),
		shortColumn("IsLink", func(h *hit) int64 { return below(h.roll(8, 1000), 140) }),
		shortColumn("IsDownload", func(h *hit) int64 { return below(h.roll(9, 1000), 3) }),
		shortColumn("DontCountHits", func(h *hit) int64 { return below(h.roll(10, 1000), 150) }),
		longColumn("URLHash", func(h *hit) int64 { return h.page.hash(urlHash62) }),
		longColumn("RefererHash", func(h *hit) int64 {
			if h.from.site == searchSite {
				return int64(scramble(h.phrase + 1<<60))
			}
			return h.from.hash(refererHash62)
		}),
	}
}

// below is 1 if x is below n, else 0.
func below(x, n uint64) int64 {
	if x < n {
		return 1
	}
	return 0
}

// traficSource is 2 behind a search, -1 on the site itself.
func traficSource(h *hit) int64 {
	switch {
	case h.phrase != 0:
		return 2
	case h.from.site == h.site:
		return -1
	}
	return share(h.roll(2, 1<<40), sourcesOf, 12)
}

func askedTexts() []hitColumn {
	return []hitColumn{
		textColumn("Title", appendTitle),
		textColumn("URL", func(b []byte, h *hit) []byte { return appendURL(b, h.page) }),
		textColumn("Referer", appendReferer),
		textColumn("SearchPhrase", func(b []byte, h *hit) []byte { return appendPhrase(b, h.phrase) }),
		textColumn("MobilePhoneModel", func(b []byte, h *hit) []byte { return append(b, phones[phoneOf(h)]...) }),
	}
}
