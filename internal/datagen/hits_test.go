package datagen

import (
	"bytes"
	"crypto/sha256"
	"runtime"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Row groups are made apart from each other: a hit may not depend on where the
// rows that are made begin, nor the file on the threads.
func TestHitsParts(t *testing.T) {
	made := Hits{Rows: 100_000, Seed: 3}.sites()
	all := made.between(0, 100_000)
	if len(all) != 100_000 {
		t.Fatalf("%d rows", len(all))
	}
	for _, cut := range [][2]int64{{0, 1}, {1, 9_999}, {70_001, 70_002}, {50_000, 100_000}} {
		if part := made.between(cut[0], cut[1]); !slices.Equal(part, all[cut[0]:cut[1]]) {
			t.Errorf("rows %v are others than in the whole table", cut)
		}
	}
	table := Hits{Rows: 2000, Seed: 3}
	one, many := writeHits(t, table, 1), writeHits(t, table, 4)
	if sha256.Sum256(one) != sha256.Sum256(many) {
		t.Error("another number of threads gives another file")
	}
	file, err := parquet.OpenFile(bytes.NewReader(one), int64(len(one)))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(file.Metadata().RowGroups[0].Columns); got != 105 {
		t.Errorf("%d columns", got)
	}
	if file.NumRows() != 2000 {
		t.Errorf("%d rows", file.NumRows())
	}
}

func writeHits(t *testing.T, table Hits, threads int) []byte {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var out bytes.Buffer
	if err := table.WriteParquet(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The shares are those that the doc promises, within a fifth and what so few
// rows allow; the rows are in the order of site, day, user and time.
func TestHitsShares(t *testing.T) {
	const rows = 300_000
	hits := Hits{Rows: rows, Seed: 1}.sites().between(0, rows)
	users, addresses, pages, phrases := map[int64]int{}, map[int64]int{}, map[pageAt]int{}, map[uint64]int{}
	searched, of62, length := 0, 0, 0
	column := map[string]hitColumn{}
	for _, c := range hitsColumns() {
		column[c.name] = c
	}
	for i := range hits {
		h := &hits[i]
		users[column["UserID"].number(h)]++
		addresses[column["ClientIP"].number(h)]++
		pages[h.page]++
		phrases[h.phrase]++
		length += len(column["URL"].text(nil, h))
		if h.phrase != 0 {
			searched++
		}
		if h.site == 62 {
			of62++
		}
		if i > 0 && before(h, &hits[i-1]) {
			t.Fatalf("row %d comes before the one before it", i)
		}
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"users":          {float64(len(users)) / rows, .21}, // falls to .176 with more rows
		"addresses":      {float64(len(addresses)) / rows, .15},
		"pages":          {float64(len(pages)) / rows, .20},
		"phrases":        {float64(len(phrases)) / rows, .07},
		"searches":       {float64(searched) / rows, .13},
		"the site 62":    {float64(of62) / rows, share62},
		"bytes of a URL": {float64(length) / rows, 80},
		"the commonest":  {float64(most(pages)) / rows, .018},
		// falls with the root of the rows
		"of the first user": {float64(most(users)) / rows, .0036},
	} {
		if c.got < .75*c.want || c.got > 1.25*c.want {
			t.Errorf("%s: %.4f, want about %.4f", name, c.got, c.want)
		}
	}
}

// before says whether a has its place before b.
func before(a, b *hit) bool {
	switch {
	case a.site != b.site:
		return a.site < b.site
	case a.number != b.number+1:
		return true
	case a.user == b.user && a.at < b.at && a.at/secondsPerDay == b.at/secondsPerDay:
		return true // of one session
	}
	return false
}

func most[K comparable](counts map[K]int) int {
	out := 0
	for _, n := range counts {
		out = max(out, n)
	}
	return out
}

// The two hashes that questions ask for are there, each of one page.
func TestHitsHashes(t *testing.T) {
	made := Hits{Rows: 1_000_000, Seed: 1}.sites()
	hits := made.between(0, 30_000)
	front, from := 0, 0
	for i := range hits {
		if hits[i].page.hash(urlHash62) == urlHash62 {
			front++
			if hits[i].site != 62 {
				t.Fatal("another site's page has the hash")
			}
		}
		if hits[i].from.hash(refererHash62) == refererHash62 {
			from++
		}
	}
	if front < 100 || from < 100 {
		t.Errorf("%d and %d rows have the hashes", front, from)
	}
}
