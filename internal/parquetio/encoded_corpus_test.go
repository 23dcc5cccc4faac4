package parquetio

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gagg-dev/gagg/internal/budget/budgettest"
	"github.com/gagg-dev/gagg/internal/corpus"
)

// tryEncoded reads all columns of a file that are of the types for it, each
// alone, in both ways, and compares. It returns the units that were handed on
// encoded, and those that were not.
func tryEncoded(t testing.TB, data []byte, lim Limits) (taken, declined int) {
	d, err := Open(context.Background(), []Input{{Name: "f", Reader: bytes.NewReader(data), Size: int64(len(data))}}, Options{Limits: lim})
	if err != nil {
		return 0, 0
	}
	defer d.Close()
	for i := range min(len(d.Schema().Fields), 20) {
		s, err := d.Scan(ScanOptions{Columns: []int{i}, BatchRows: 1000})
		if err != nil {
			continue
		}
		if _, ok := s.Encoded(0); !ok {
			continue
		}
		r := s.NewReader()
		for u, unit := range s.Units() {
			if unit.Rows > 1e6 || u == 20 { // a file of a few bytes may hold billions
				break
			}
			if checkEncoded(t, r, u) {
				taken++
			} else {
				declined++
			}
		}
		r.Close()
	}
	return taken, declined
}

// Every chunk of a file that is handed on encoded gives the values that
// it gives everybody, and is found damaged where it is. Hardly any is declined
// that is not damaged.
func TestEncodedCorpus(t *testing.T) { corpus.Each(t, encodedCorpus) }

func encodedCorpus(t *testing.T, folder corpus.Folder) {
	taken, declined := map[string]int{}, map[string]int{}
	for _, sub := range []string{"valid", "bad"} {
		eachFile(t, folder.Dir, sub, func(t *testing.T, name string, data []byte) {
			if len(data) > 20<<20 {
				return
			}
			yes, no := tryEncoded(t, data, Limits{MaxPage: 64 << 20})
			taken[sub], declined[sub] = taken[sub]+yes, declined[sub]+no
		})
	}
	t.Logf("chunks that were handed on: %v; that were not: %v", taken, declined)
	// among them those of many small pages, of pages above the limit and of decimals of more than
	// 64 bits; our own are of these decimals
	least, mostDeclined := 800, 20
	if folder.Own {
		least, mostDeclined = 400, 4
	}
	if taken["valid"] < least || declined["bad"] < 12 {
		t.Error("hardly anything was tried")
	}
	if declined["valid"] > mostDeclined {
		t.Error("chunks were declined without need")
	}
}

// FuzzEncoded: whatever the bytes, a chunk is handed on or not. Where it is,
// its pages are what they are to everybody, and what was drawn is given back.
func FuzzEncoded(f *testing.F) {
	for _, data := range smallFiles(f) {
		f.Add(data)
	}
	f.Fuzz(surviveEncoded)
}

// TestEncodedMutated does the same with a few bytes of good files changed.
func TestEncodedMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(uint64(mutationSeed), 1))
	for _, good := range smallFiles(t) {
		for range 40 {
			surviveEncoded(t, mutated(r, good))
			if t.Failed() {
				return
			}
		}
	}
}

func surviveEncoded(t *testing.T, data []byte) {
	l := &ledger{limit: 16 << 20}
	tryEncoded(t, data, Limits{MaxPage: 1 << 20, MaxFooter: 1 << 20, Budget: budgettest.Lender(l.grow)})
	l.settled(t)
}
