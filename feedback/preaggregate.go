package feedback

// PreaggregateConfig holds the thresholds of DecidePreaggregate.
type PreaggregateConfig struct {
	// MostSent is the share of a tile's rows that may come out of the blocks'
	// tables again, as rows without a slot or as groups, for the next tiles to
	// go through them: where more do, hardly any two rows of a block have met.
	//
	// It also bounds what the other way may cost, on which all rows of a key
	// take turns at its slot: the key with the most rows has at most 1 - MostSent
	// of the tile, or the blocks would have saved more. Not measured: with a tenth of
	// 470,000 rows at 1.2e9 rows a second, which is one group's rate
	// (docs/experiments/0006), that is 39 µs for each word of the state, where
	// blocks without use took 124 µs in all.
	MostSent float64
	// Sample is how often a tile goes through the blocks' tables in any case,
	// every so many'th, since only these can tell what they are worth:
	// tiles that cost three times as much make all of them a sixteenth
	// dearer, and where keys become frequent at once, a tenth of a second at most
	// goes by until it is seen (31 tiles of 470,000 rows of one key, 5 state words).
	Sample uint64
}

// DefaultPreaggregateConfig is the configuration of the first pass.
var DefaultPreaggregateConfig = PreaggregateConfig{MostSent: 0.9, Sample: 32}

// PreaggregateDecision is what becomes of the next tiles.
type PreaggregateDecision uint8

const (
	PreaggregateRows PreaggregateDecision = iota // blocks combine their rows first
	SendRows                                     // each row goes to the table of all blocks at once
)

// DecidePreaggregate says how the next tiles go to their table, after blocks have
// combined the rows of a tile among themselves and sent so many rows and
// groups on.
func (c PreaggregateConfig) DecidePreaggregate(rows, sent uint64) PreaggregateDecision {
	if float64(sent) > c.MostSent*float64(rows) {
		return SendRows
	}
	return PreaggregateRows
}

// Samples says whether blocks combine the rows of a tile whatever the decision
// was. Tiles are numbered from 1.
func (c PreaggregateConfig) Samples(tile uint64) bool { return tile%c.Sample == 0 }
