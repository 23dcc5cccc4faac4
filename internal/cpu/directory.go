package cpu

import (
	"math/bits"

	"github.com/gagg-dev/gagg/internal/hostmem"
)

// directory is the open addressing index of a table or a merge. Groups are
// placed by the hashes of their keys, or by seeded ones (crowded.go).
type directory struct {
	slots     []uint32
	shift     uint // home slot of a hash: hash<<skip >> shift
	skip      uint // top bits that all hashes share
	groupBits uint // of an entry; the others are the tag
	seeded    bool // hashes are key.Layout.Secret
	left      int  // slots that may yet be probed

	// slots that were read before groups are placed; else the compiler may drop the reads
	touched uint32
}

const minDirBits = 10

// newDirectory returns an empty directory for n groups with numbers below
// numbers, whose hashes share their top skip bits.
func newDirectory(n, numbers int, skip uint) directory {
	b := dirBits(n)
	return directory{
		slots: hostmem.Make[uint32](1 << b), shift: 64 - b, skip: skip,
		groupBits: uint(bits.Len(uint(numbers))),
	}
}

// dirBits gives n groups at most half of 2^dirBits slots.
func dirBits(n int) uint { return uint(max(minDirBits, bits.Len(uint(2*n-1)))) }

// drop frees the directory.
func (d *directory) drop() {
	hostmem.Free(d.slots)
	*d = directory{}
}

func (d *directory) home(hash uint64) uint64 { return hash << d.skip >> d.shift }

// candidates sets groups[i] to the first group from the home slot of hash[i]
// on with its tag, or noGroup if a free slot comes before. The slots of all
// hashes are loaded first, so that their cache misses overlap.
func (d *directory) candidates(hash []uint64, groups []uint32) {
	slots, skip, shift, entries := d.slots, d.skip&63, d.shift&63, groups[:len(hash)]
	for i, h := range hash {
		entries[i] = slots[h<<skip>>shift]
	}
	passed := 0
	for i, e := range entries {
		h := hash[i]
		for s := h << skip >> shift; e != 0 && !d.tagged(e, h); e = slots[s] {
			s = d.next(s)
			passed++
		}
		groups[i] = d.group(e)
	}
	d.left -= passed
}

// next is the slot to look at after slot s.
func (d *directory) next(s uint64) uint64 { return (s + 1) & uint64(len(d.slots)-1) }

// capacity is how many groups a table's directory takes before it grows.
func (d *directory) capacity() int { return capacityOf(len(d.slots)) }

// largeDir is from how many slots on a directory lies in no cache.
const largeDir = 1 << 18

// capacityOf is the most groups of a table with that many slots: half of them, or three
// quarters where looking one up waits for memory, and those beside it cost little more.
func capacityOf(slots int) int {
	if slots >= largeDir {
		return slots / 4 * 3
	}
	return slots / 2
}

// place enters a group that is known to be new.
func (d *directory) place(hash uint64, group uint32) {
	s := d.home(hash)
	for d.slots[s] != 0 {
		s = d.next(s)
	}
	d.put(s, hash, group)
}

// placeAll enters groups that are known to be new, from number first on. Their home slots are
// looked at first, so that the cache misses of different groups overlap.
func (d *directory) placeAll(hash []uint64, first uint32) {
	slots, skip, shift, last, bits := d.slots, d.skip&63, d.shift&63, uint64(len(d.slots)-1), d.groupBits&31
	for _, h := range hash {
		d.touched |= slots[h<<skip>>shift]
	}
	for i, h := range hash {
		s := h << skip >> shift
		for slots[s] != 0 {
			s = (s + 1) & last
		}
		slots[s] = uint32(h)<<bits | first + uint32(i) + 1
	}
}

// put enters a group in a free slot, where probing for it has ended.
func (d *directory) put(s, hash uint64, group uint32) { d.slots[s] = d.entry(hash, group) }

// empty takes all groups out.
func (d *directory) empty() { clear(d.slots) }

func (d *directory) entry(hash uint64, group uint32) uint32 {
	return uint32(hash)<<d.groupBits | group + 1
}

// tagged reports whether entry e has the tag of hash.
func (d *directory) tagged(e uint32, hash uint64) bool {
	return (e^uint32(hash)<<d.groupBits)>>d.groupBits == 0
}

// group is the group of an entry; that of a free slot is noGroup.
func (d *directory) group(e uint32) uint32 { return e&(1<<d.groupBits-1) - 1 }

const noGroup = ^uint32(0)
