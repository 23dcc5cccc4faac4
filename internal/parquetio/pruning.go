package parquetio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gagg-dev/gagg/internal/column"
)

// Bind makes the test of a query by columns alone that are known to have one value in all rows of
// a file: whether such rows, of which a batch has one, may be wanted. nil: the query says nothing
// of these columns alone. used are the columns that it is about.
type Bind func(fields []column.Field) (test func(one *column.Batch) bool, used []bool)

// folderTest is the test that Bind makes for some fields.
type folderTest struct {
	keeps func(one *column.Batch) bool
	used  []bool
}

// Pruning leaves out folders and files by the values in their names, while they are listed. It is
// for one opening of inputs.
//
// PRUNED: what is listed, and the types of the columns, are those of the whole tree, less what was
// not looked into. A folder is ruled out by the types that its keys have in all names that were
// seen so far. If a key turns out to have another type, or to be no column since a file is without
// it, all is listed once more, without looking at names (Off), and files are left out at the end.
type Pruning struct {
	bind Bind

	mu      sync.Mutex
	off     bool
	keys    map[string]*hiveKey
	tests   map[string]*folderTest // by the fields
	skipped map[string]bool        // folders that were not looked into
	files   int                    // left out of those that were found
	common  map[string]bool        // keys that all files have; nil: not finished
}

// hiveKey is a key of folder names.
type hiveKey struct {
	seen   map[string]bool // values, without NULL
	fits   []bool          // by type: all of them do
	relied column.Type     // by which folders were ruled out; Invalid: none was
}

// NewPruning returns a Pruning; nil for a nil test.
func NewPruning(bind Bind) *Pruning {
	if bind == nil {
		return nil
	}
	p := &Pruning{bind: bind, tests: map[string]*folderTest{}}
	p.reset()
	return p
}

func (p *Pruning) reset() {
	p.keys, p.skipped, p.files, p.common = map[string]*hiveKey{}, map[string]bool{}, 0, nil
}

// Off begins again, and rules out no folder.
func (p *Pruning) Off() {
	p.reset()
	p.off = true
}

// Counts is how many folders were not looked into, and how many files left out of those found.
func (p *Pruning) Counts() (folders, files int) {
	if p == nil {
		return 0, 0
	}
	return len(p.skipped), p.files
}

// Skipped is the folders that were not looked into, in order.
func (p *Pruning) Skipped() []string { return slices.Sorted(maps.Keys(p.skipped)) }

// Helps reports whether a file in a folder, which is a path that ends with a slash, is in others
// there that are named such that some of these may be ruled out.
func (p *Pruning) Helps(folder, file string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pairs, err := hivePairs(file)
	if p.off || err != nil {
		return false
	}
	above, _ := hivePairs(folder)
	p.note(pairs)
	fields := p.fields(pairs, nil)
	used := p.test(fields).used
	for i, f := range fields {
		in := func(pair hivePair) bool { return pair.key == f.Name }
		if i < len(used) && used[i] && !slices.ContainsFunc(above, in) {
			return true
		}
	}
	return false
}

// Enter tells which of the folders of these names in a folder, "" or a path that ends with a slash,
// are looked into; names are all that are in it.
func (p *Pruning) Enter(folder string, names []string) (enter []bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	enter = make([]bool, len(names))
	all := make([][]hivePair, len(names))
	for i, name := range names {
		var err error
		if all[i], err = hivePairs(folder + name + "/"); err == nil { // else Open tells
			p.note(all[i])
		}
	}
	for i, pairs := range all {
		enter[i] = p.off || !strings.Contains(names[i], "=") || p.keeps(pairs, nil)
		if enter[i] {
			continue
		}
		p.skipped[folder+names[i]] = true
		fields := p.fields(pairs, nil)
		for n, used := range p.test(fields).used {
			if k := p.keys[fields[n].Name]; used && k.relied.Kind == column.Invalid {
				k.relied = fields[n].Type
			}
		}
	}
	return enter
}

// note takes the values of pairs into account for the types of their keys.
func (p *Pruning) note(pairs []hivePair) {
	for _, pair := range pairs {
		k := p.keys[pair.key]
		if k == nil {
			k = &hiveKey{seen: map[string]bool{}, fits: make([]bool, len(hiveTypes))}
			for i := range k.fits {
				k.fits[i] = true
			}
			p.keys[pair.key] = k
		}
		if pair.null || k.seen[pair.value] {
			continue
		}
		k.seen[pair.value] = true
		for i, t := range hiveTypes {
			if k.fits[i] {
				_, err := t.parse(pair.value)
				k.fits[i] = err == nil
			}
		}
	}
}

// hiveType is the place in hiveTypes of the type of a key by the values seen so far. Nothing but
// NULLs is text.
func (k *hiveKey) hiveType() int {
	i := len(hiveTypes) - 1
	if len(k.seen) > 0 {
		for i = 0; !k.fits[i]; i++ {
			continue
		}
	}
	return i
}

// fields is the columns of pairs whose types are known, of the keys in only; nil: of all.
func (p *Pruning) fields(pairs []hivePair, only map[string]bool) (fields []column.Field) {
	for _, pair := range pairs {
		if k := p.keys[pair.key]; len(k.seen) > 0 && (only == nil || only[pair.key]) {
			fields = append(fields, column.Field{Name: pair.key, Type: hiveTypes[k.hiveType()].typ})
		}
	}
	return fields
}

func (p *Pruning) test(fields []column.Field) *folderTest {
	key := fmt.Sprintf("%q", fields)
	test := p.tests[key]
	if test == nil {
		test = &folderTest{}
		test.keeps, test.used = p.bind(fields)
		p.tests[key] = test
	}
	return test
}

// keeps reports whether rows with these values may be wanted, by the keys in only; nil: by all.
func (p *Pruning) keeps(pairs []hivePair, only map[string]bool) bool {
	fields := p.fields(pairs, only)
	test := p.test(fields)
	if test.keeps == nil {
		return true
	}
	one := column.Batch{Rows: 1}
	for _, pair := range pairs {
		if len(one.Cols) == len(fields) || fields[len(one.Cols)].Name != pair.key {
			continue
		}
		t := hiveTypes[p.keys[pair.key].hiveType()]
		if pair.null {
			one.Cols = append(one.Cols, nullVector(t.typ, 1))
			continue
		}
		v, err := t.parse(pair.value)
		if err != nil {
			return true
		}
		v.Type = t.typ
		one.Cols = append(one.Cols, singleValue(v))
	}
	return test.keeps(&one)
}

// Finish leaves out files of those that were found, by their paths, in their order, but at least
// one, which has the columns. false: folders were ruled out by what the files do not bear out, and
// are to be listed again, with Off.
func (p *Pruning) Finish(paths []string) (kept []int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([][]hivePair, len(paths))
	count := map[string]int{}
	bad := false // Open tells
	for i, path := range paths {
		var err error
		all[i], err = hivePairs(path)
		bad = bad || err != nil
		p.note(all[i])
		for _, pair := range all[i] {
			count[pair.key]++
		}
	}
	p.common = map[string]bool{}
	for key, n := range count {
		p.common[key] = n == len(paths)
	}
	for key, k := range p.keys {
		if k.relied.Kind != column.Invalid && (!p.common[key] || k.relied != hiveTypes[k.hiveType()].typ) {
			return nil, false
		}
	}
	for i := range paths {
		if bad || p.keeps(all[i], p.common) {
			kept = append(kept, i)
		}
	}
	if len(kept) == 0 && len(paths) > 0 {
		kept = []int{0}
	}
	p.files = len(paths) - len(kept)
	return kept, true
}

// finish is Finish of a listing that may have failed: if folders were ruled out, since nothing is
// left.
func (p *Pruning) finish(paths []string, err error) (kept []int, ok bool) {
	if err != nil || len(paths) == 0 {
		return nil, len(p.skipped) == 0
	}
	return p.Finish(paths)
}

// known are the types of the keys that are columns, by all names that were seen; nil: not known.
func (p *Pruning) known() map[string]int {
	if p == nil || p.common == nil {
		return nil
	}
	types := map[string]int{}
	for key := range maps.Keys(p.common) {
		if p.common[key] {
			types[key] = p.keys[key].hiveType()
		}
	}
	return types
}
