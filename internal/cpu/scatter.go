package cpu

import (
	"errors"

	"github.com/gagg-dev/gagg/feedback"
	"github.com/gagg-dev/gagg/internal/agg"
	"github.com/gagg-dev/gagg/internal/column"
	"github.com/gagg-dev/gagg/internal/hostmem"
	"github.com/gagg-dev/gagg/partition"
)

// This file is how a worker comes to partition its groups, and does.

// selectivity is the share of the input's rows that pass the filter, among those that the worker
// has read.
func (w *Worker) selectivity() float64 {
	share := 1.0
	if w.read > 0 {
		share = float64(w.selected) / float64(w.read)
	}
	if w.comes > 0 {
		share *= w.comes
	}
	return share
}

// rowsAll is how many rows are expected to pass the filter, in all workers; -1: not known.
func (w *Worker) rowsAll() int64 {
	if w.run.rows < 0 {
		return -1
	}
	return int64(float64(w.run.rows) * w.selectivity())
}

// rowsEach is rowsAll of one worker.
func (w *Worker) rowsEach() int64 {
	if w.run.rows < 0 {
		return -1
	}
	return w.rowsAll() / int64(max(w.cfg.Threads, 1))
}

// yield makes memory free that was refused: the table's groups go to buckets,
// and those to disk where their values keep an arena full.
func (w *Worker) yield(cause error) error {
	full := errors.Is(cause, errTableFull)
	if w.store.disk == nil && !full {
		return cause
	}
	switch {
	case w.table.n == 0 && full: // a batch has more rows than the table may have groups
		w.openBuckets()
		w.giveUpTable()
		return nil
	case w.table.n > 0:
		rows, groups := w.rows, int64(w.table.n)
		if err := w.flush(); err != nil {
			return err
		}
		if w.decideFlush(rows, groups) == feedback.Scatter {
			w.giveUpTable()
		}
		if full || !w.cfg.hasRefs() {
			return nil
		}
	case w.store.buckets == nil || w.store.pool.Bytes()+w.store.arena.Bytes() == 0:
		return &overload{cause}
	}
	return w.store.clear()
}

// flush empties the table: to the device if it takes rows, else into buckets.
func (w *Worker) flush() error {
	if err := w.unpairAll(); err != nil {
		return err
	}
	w.note(w.table.rows.Rows)
	err := w.put(w.table.rows.Rows)
	w.recentCodes.emptied(w.table.n)
	w.table.empty()
	w.restart()
	return err
}

// restart begins with a table without groups.
func (w *Worker) restart() {
	w.codes, w.sizes, w.judged = codes{}, sizes{}, judged{}
	w.rows, w.nextCheck = 0, w.run.firstCheck()
}

// note shows the hashes of the table's rows to the sketch: seeded ones, as of all rows that follow,
// if look-ups of them have crowded. Keys that were made to have one hash would count as one
// (CROWDED).
func (w *Worker) note(rows []uint64) {
	if w.crowded = w.crowded || w.table.dir.seeded; w.crowded {
		w.cfg.noteSecret(w.sketch, rows)
		return
	}
	w.cfg.note(w.sketch, rows)
}

// note shows the hashes of rows to a sketch.
func (c *Config) note(sketch *partition.Sketch, rows []uint64) {
	var hashes [hashRows]uint64
	for len(rows) > 0 {
		n := min(len(rows)/c.Stride, len(hashes))
		c.Keys.RowHashes(rows, c.Stride, hashes[:n])
		sketch.Add(hashes[:n])
		rows = rows[n*c.Stride:]
	}
}

// hashRows is of how many rows the hashes are made at a time.
const hashRows = 256

// noteSecret shows the seeded hashes of rows to a sketch.
func (c *Config) noteSecret(sketch *partition.Sketch, rows []uint64) {
	var hashes [hashRows]uint64
	for len(rows) > 0 {
		n := 0
		for ; n < len(hashes) && len(rows) > 0; n++ {
			hashes[n], rows = c.Keys.Secret(rows[:c.Stride], c.Keys.Base(), c.Arenas), rows[c.Stride:]
		}
		sketch.Add(hashes[:n])
	}
}

// openBuckets makes the buckets, if there are none yet. The table's rows have
// been noted.
func (w *Worker) openBuckets() {
	if w.store.buckets == nil {
		w.store.open(0, w.run.choose(w.sketch.Estimate(), w.expected, max(w.rows+w.scattered, 1), w.rowsAll(), w.store.arena.Bytes()))
	}
}

// scatter makes groups of the n rows of a batch, one of each, and places them: on the device if it
// takes rows, else in buckets.
func (w *Worker) scatter(n int) error {
	w.encoder.Encode(w.keys, n)
	if err := w.encoder.Err(); err != nil {
		return err
	}
	if w.crowded {
		w.sketch.Add(w.encoder.Secret())
	} else {
		w.sketch.Add(w.encoder.Hash)
	}
	w.scattered += int64(n)
	if err := w.settle(); err != nil {
		return err
	}
	if rows, err := w.outgoingRows(n); err != nil || rows != nil {
		if err == nil {
			err = w.makeRows(rows, n)
		}
		return err
	}
	if err := w.growBatchRows(n); err != nil {
		return err
	}
	if w.cfg.hasRefs() {
		if err := w.reserve(w.need() + w.encoder.LongBytes()); err != nil {
			return err
		}
		w.encoder.Store(w.store.arena)
	}
	w.openBuckets()
	rows := w.batchRows[:n*w.cfg.Stride]
	if err := w.makeRows(rows, n); err != nil {
		return err
	}
	if err := w.store.placeBy(w.encoder.Hash[:n], rows); err != nil {
		return err
	}
	return w.regrow()
}

// makeRows writes the n rows of the batch, each a group of its own.
func (w *Worker) makeRows(rows []uint64, n int) error {
	stride, base, keys := w.cfg.Stride, w.cfg.Keys.Base(), w.encoder.Words
	states := w.template[base+len(keys):]
	for i, h := range w.encoder.Hash[:n] {
		row := rows[i*stride : (i+1)*stride : (i+1)*stride]
		row[0] = h // or the key
		for k := range keys {
			row[base+k] = keys[k][i]
		}
		for k, x := range states { // a copy is a call
			row[base+len(keys)+k] = x
		}
	}
	for i := len(w.identity); i < n; i++ {
		w.identity = append(w.identity, uint32(i))
	}
	w.batchTable.Rows, w.batchTable.Unseen = rows, false
	w.update(&w.batchTable, w.identity[:n], 0)
	return w.batchTable.Outside()
}

// reserve makes sure of memory for values of that size, if necessary by writing
// all buckets to disk.
func (w *Worker) reserve(bytes int) error {
	err := w.room(bytes)
	if err == nil || !refused(err) || w.store.disk == nil {
		return err
	}
	if err := w.store.clear(); err != nil {
		return err
	}
	if err := w.room(bytes); err != nil {
		return &overload{err}
	}
	return nil
}

// settle takes the memory for strings that were just numbered.
func (w *Worker) settle() error {
	err := w.cfg.Intern.Settle()
	if err != nil && w.store.disk != nil {
		if err := w.store.clear(); err != nil {
			return err
		}
		err = w.cfg.Intern.Settle()
	}
	return err
}

// growBatchRows makes room for n rows of a batch.
func (w *Worker) growBatchRows(n int) error {
	words := n * w.cfg.Stride
	if len(w.batchRows) >= words {
		return nil
	}
	w.dropBatchRows()
	bytes := int64(8 * words)
	if err := w.drawBatchRows(bytes); err != nil {
		return err
	}
	w.batchHeld = bytes
	w.batchRows = hostmem.Make[uint64](words)
	return nil
}

// drawBatchRows draws memory for rows of batches. If it is refused, all buckets go to disk first.
func (w *Worker) drawBatchRows(bytes int64) error {
	ask := func() error {
		if err := w.fits(bytes); err != nil {
			return err
		}
		return w.cfg.Budget.Draw(bytes)
	}
	err := ask()
	if err == nil || w.store.disk == nil {
		return err
	}
	if err := w.store.clear(); err != nil {
		return err
	}
	if err := ask(); err != nil {
		return &overload{err}
	}
	return nil
}

// dropBatchRows frees the memory for rows of batches.
func (w *Worker) dropBatchRows() {
	hostmem.Free(w.batchRows)
	w.batchRows, w.batchTable.Rows = nil, nil
	w.cfg.Budget.Release(w.batchHeld)
	w.batchHeld = 0
}

// forget lets go of the last batch and of the memory to compute with it, dictionaries above all:
// the worker itself lives on with its store.
func (w *Worker) forget() {
	w.codes, w.recentCodes, w.encoder, w.in = codes{}, recentCodes{}, nil, agg.Input{}
	w.keys, w.keyBuf, w.missKeys, w.argBuf = nil, nil, nil, nil
	w.compact, w.compBuf, w.left, w.leftBuf = column.Batch{}, nil, column.Batch{}, nil
	w.sel, w.groups, w.found, w.missing, w.identity = nil, nil, nil, nil, nil
	w.pipe = Pipeline{}
}

// Groups is how many groups the worker's table holds, and whether the worker
// has begun to partition.
func (w *Worker) Groups() (n int, partitioned bool) {
	if w.phase == phaseScatter {
		return 0, true
	}
	return int(w.table.live()), w.store.buckets != nil
}

// Finish ends the input of the worker. If the device was given rows it is given all
// that it can take; the others are in buckets then, of 2^hashBits partitions unless the
// worker has partitioned before. staying is its table, if that is merged in place; else nil.
func (w *Worker) Finish(hashBits uint, staying *inPlaceTable) error {
	w.sharing = nil // from now on the accelerator takes rows
	w.dropBatchRows()
	w.forget()
	if w.store.buckets == nil {
		w.store.open(0, hashBits)
	}
	switch {
	case staying != nil:
		w.noteAll()
		w.store.addInPlace(staying)
	case w.phase != phaseScatter:
		w.table.dropLeft()
		w.noteAll()
		var err error
		// else the group is the accelerator's
		if rows := w.table.rows.Rows; !w.isEmpty(rows) || w.run.sent.Load() == 0 {
			err = w.put(rows)
		}
		w.table.drop()
		if err != nil {
			return err
		}
	}
	if err := w.takeBack(); err != nil {
		return err
	}
	return w.handOver()
}

// noteAll shows the hashes of the table's rows to the sketch, unless that was done
// (topNFinder.greatest).
func (w *Worker) noteAll() {
	if !w.noted {
		w.note(w.table.rows.Rows)
	}
}
