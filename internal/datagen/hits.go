package datagen

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Hits is a stand-in for the table hits of ClickBench: page views of July 2013
// on 6,506 sites, 105 columns. Its names and types are those of ClickBench's
// create.sql; its cardinalities, lengths and skew follow what is published of
// the 99,997,497 rows, in proportion where they grow with the rows:
//
//	UserID        17.6 % distinct; the commonest has 0.03 % of the rows
//	SearchPhrase  13 % not empty, in short runs; 6 % distinct; the commonest 0.5 % of those
//	URL           18 % distinct, 85 bytes with a long tail; the commonest 3 %
//	Title Referer about as many; 15 %, 19 % empty
//	CounterID     6,506 sites: 8.5, 7.1, 5.8, 4.6 % … ; number 62 has 0.74 %
//	RegionID      9,040: 18, 6.7, 4.3, 3.3 % …
//	AdvEngineID   0.63 % not 0, of 19 values
//	MobilePhone…  6 % of the users, nearly all an iPad; 166 models
//	ClientIP      10 % distinct;  WatchID: no two the same
//
// The layout is that of a table that ClickHouse has sorted and written: rows in
// the order of (CounterID, EventDate, user, EventTime), row groups of
// 442,368 rows (226 for 1e8), required columns, Snappy, pages of 1 MiB,
// dictionaries that give way to plain pages beyond 1 MiB.
//
// Terms: a cell is the rows of one site and day; a session is one user's
// consecutive hits in a cell. Cells are made from the seed and their number
// alone, so that row groups can be written in parallel.
type Hits struct {
	Rows int64
	Seed uint64
}

const (
	hitsRowGroup  = 216 * 2048
	hitsPage      = 1 << 20
	hitsFirstDay  = 15888 // 2013-07-02
	hitsDays      = 30
	hitsSites     = 6506
	hitsSite62    = 1 // place of CounterID 62 among the sorted
	hitsMostID    = 270_000
	secondsPerDay = 86400
)

// WriteParquet writes the table as one file. It uses all processors; memory
// does not grow with Rows.
func (h Hits) WriteParquet(w io.Writer) error {
	columns := hitsColumns()
	file := parquet.NewGenericWriter[any](w, hitsSchema(columns),
		parquet.Compression(&parquet.Snappy),
		parquet.DataPageVersion(1),
		parquet.PageBufferSize(hitsPage),
		parquet.DictionaryMaxBytes(hitsPage),
		parquet.MaxRowsPerRowGroup(hitsRowGroup))
	groups := int((h.Rows + hitsRowGroup - 1) / hitsRowGroup)
	made := h.sites()
	err := writeRowGroups(file, groups, runtime.GOMAXPROCS(0)+1, func(g int, out []*parquet.ColumnWriter) error {
		low := int64(g) * hitsRowGroup
		hits := made.between(low, min(low+hitsRowGroup, h.Rows))
		for c, column := range columns {
			if err := column.write(out[c], c, hits); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Errorf("writing %d hits: %w", h.Rows, err)
	}
	return nil
}

// sites is who has how many of the rows.
type sites struct {
	rows  int64
	seed  uint64
	ids   []int32 // CounterIDs, ascending
	above []int64 // rows of the sites up to and with this one
}

// topSites is the shares of the four largest sites; the others' fall with
// their rank.
var topSites = []float64{.0853, .0712, .0578, .0456}

const share62 = .0074

// sites deals the rows out.
func (h Hits) sites() *sites {
	s := &sites{rows: h.Rows, seed: h.Seed, ids: siteIDs(h.Seed)}
	weights := make([]float64, hitsSites)
	rest, sum := 1-share62, 0.0
	for _, share := range topSites {
		rest -= share
	}
	for rank := len(topSites); rank < hitsSites; rank++ {
		weights[rank] = math.Pow(float64(rank+1), -.95)
		sum += weights[rank]
	}
	for rank := range weights {
		if rank < len(topSites) {
			weights[rank] = topSites[rank]
		} else {
			weights[rank] *= rest / sum
		}
	}
	order := drawsOf(h.Seed, 2).shuffled(hitsSites) // from ids to ranks
	total := 0.0
	for place, rank := range order {
		if place == hitsSite62 {
			total += share62
		} else {
			total += weights[rank] * (1 - weights[order[hitsSite62]])
		}
		s.above = append(s.above, min(int64(total*float64(h.Rows)), h.Rows))
	}
	s.above[hitsSites-1] = h.Rows
	return s
}

// siteIDs are different CounterIDs in ascending order, 62 among them.
func siteIDs(seed uint64) []int32 {
	draw := drawsOf(seed, 1)
	chosen := map[int32]bool{}
	for len(chosen) < hitsSites-hitsSite62-1 {
		chosen[63+int32(draw.below(hitsMostID-63))] = true
	}
	ids := []int32{38, 62}
	for id := range chosen {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// between makes the rows from low up to high.
func (s *sites) between(low, high int64) []hit {
	out := make([]hit, 0, high-low)
	site, _ := slices.BinarySearch(s.above, low+1)
	for ; site < hitsSites && int64(len(out)) < high-low; site++ {
		first := int64(0)
		if site > 0 {
			first = s.above[site-1]
		}
		rows := s.above[site] - first
		for day := range int64(hitsDays) {
			from, to := first+rows*day/hitsDays, first+rows*(day+1)/hitsDays
			if from >= high || to <= low {
				continue
			}
			cell := s.cell(site, int(day), from, int(to-from))
			out = append(out, cell[max(low-from, 0):min(high, to)-from]...)
		}
	}
	return out
}
