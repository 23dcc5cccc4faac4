package plan

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/gagg-dev/gagg/internal/cpu"
	"github.com/gagg-dev/gagg/internal/device"
)

// This file decides between the CPU and a device, from what the plan knows:
// counts in, a decision out, no clock and no driver. A wrong prediction costs
// time, never an answer.

// DeviceFacts is what the choice depends on.
type DeviceFacts struct {
	Spec        device.Spec
	Unsupported string // why no device can combine the groups; "": one can
	NoDevice    string // why no device can be used; "": one can, or it was not looked for
	Kept        bool   // the device is open, since the caller keeps it so
	Left        bool   // what is held on it is left to the driver, as the process ends
	Rereadable  bool   // the input can be read again, should a device fail in mid-run
	Devices     int    // that would share the work; 0: one
	Memory      int64  // bytes of each that may be taken; 0: not known

	Rows     int64   // to read; -1: not known
	Bytes    int64   // to read, compressed
	Plain    int64   // the same decompressed
	Slow     int64   // of Plain: out of codecs that take several times as long as Snappy
	Groups   float64 // about how many; +Inf: as many as rows
	Keyed    float64 // about how many the CPU makes, if others than devices; 0: as many
	Threads  int     // CPU workers, where row groups are cut for them
	Builders int     // those beside devices, which take row groups as they are; 0: Threads
	RowSize  int64   // bytes of a row of hash, key and states
	Lists    int64   // that a group has of all its values
	Limit    int64   // with a limit without an order: groups wanted, the first in order of hash; 0: all
	Few      bool    // few groups are wanted, and known by words of their rows: the others are not put out
	// Filtered: the query has a filter. Selectivity is the part of the rows that pass it; 0: not
	// known, and all are counted
	Filtered    bool
	Selectivity float64
	Operations  int     // of the filter, keys and arguments, for a row
	Sampled     bool    // some rows were looked at, which tell of Groups, Selectivity and Computing
	Together    bool    // of many groups the rows come together, by that
	Computing   float64 // seconds of a core that filter, keys and arguments take for a row, if Sampled
	ByParts     float64 // the same if the CPU groups by parts of the keys, as devices do; 0: it does not
	Updates     int     // states that a row changes
	Opening     float64 // seconds since a device began to be opened
	Reading     float64 // seconds that workers take for these rows at their pace so far; 0: predicted
	Merged      float64 // groups of all workers together, by a pace; 0: as many as Groups tells
	Regroup     bool    // the groups are grouped by fewer keys: most are not put out
	// Unseen: workers that begin do not make them: they are by parts of the keys, or by the keys
	// and a value that workers do not count
	Unseen bool
	// Regroups: a device that has all groups does that, which takes some milliseconds
	Regroups bool

	Encoded  float64 // the part of the rows that devices make themselves, of encoded columns
	Crossing int64   // bytes of these
	Unpacked int64   // of Crossing: what workers decompress, of codecs that devices do not know
	Texts    int64   // texts in these rows to which workers give codes: long ones of keys, and what they compute of
	Stored   int64   // those that devices keep themselves
}

// Choice is what computes, and why.
type Choice struct {
	Use    bool   // a device
	Reason string // for people
	CPU    float64
	Device float64 // seconds predicted of each; 0 both: nothing was predicted
}

// choose decides. It may be asked before anybody has looked for a device: it then
// says whether to look, so that a small query never opens a driver.
func (c Costs) choose(f DeviceFacts) Choice {
	choice := Choice{Reason: "as asked for"}
	required := f.Spec.Required()
	switch {
	case f.Spec.Kind == device.CPU:
		return choice
	case f.Unsupported != "":
		choice.Reason = f.Unsupported
		return choice
	case required:
		choice.Use = true
		return choice
	case f.NoDevice != "":
		choice.Reason = f.NoDevice
		return choice
	case !f.Rereadable:
		choice.Reason = "the input could not be read again, should a GPU fail"
		return choice
	case f.Rows < 0:
		choice.Reason = "nobody knows how many rows there are"
		return choice
	case f.Rows == 0:
		choice.Reason = "there are no rows to read"
		return choice
	}
	return c.compare(f, f, 1-c.Gain)
}

// compare predicts a run on the CPU and one on devices, which are used if they take less than such
// a part of the CPU's time.
func (c Costs) compare(onCPU, onDevices DeviceFacts, most float64) Choice {
	choice := Choice{CPU: c.cpu(onCPU), Device: c.device(onDevices)}
	choice.Use = choice.Device < choice.CPU*most
	choice.Reason = fmt.Sprintf("predicted: CPU %s, GPU %s with %s to start it, for %s",
		seconds(choice.CPU), seconds(choice.Device), seconds(c.start(onDevices)), onDevices.groupsText())
	return choice
}

// cpu predicts the seconds of a run on the CPU alone. A pace is of reading alone: the groups of all
// workers are merged afterwards. The costs of tables were measured with that. A group's list is
// one thread's.
func (c Costs) cpu(f DeviceFacts) float64 {
	if f.Reading == 0 && c.partsPay(f) {
		return c.reading(f.byParts()) + c.regrouping(f)
	}
	f.Groups = cmp.Or(f.Keyed, f.Groups)
	rows, groups := f.counts()
	merged := groups
	if f.Reading > 0 {
		merged = min(cmp.Or(f.Merged, groups*f.threads()), rows)
	}
	return cmp.Or(f.Reading, c.reading(f)) + (merged*c.Group+f.putOut()*c.Put)/f.threads() +
		f.listed()*c.List/min(f.threads(), max(groups, 1))
}

// byParts are the facts of a CPU that groups by parts of the keys.
func (f DeviceFacts) byParts() DeviceFacts {
	f.Computing, f.Keyed, f.ByParts = f.ByParts, 0, 0
	return f
}

// regrouping predicts the seconds in which the CPU computes the keys of the groups by their parts
// that all workers have, and groups these.
func (c Costs) regrouping(f DeviceFacts) float64 {
	rows, groups := f.counts()
	groups = min(groups*f.threads(), rows)
	return groups * (f.Computing*c.Crowded + c.Group + c.grouping(f, cmp.Or(f.Keyed, f.Groups))) / f.threads()
}

// partsPay reports whether the CPU is predicted to be faster, by a fifth at least, if it groups by
// parts of the keys and computes the keys of these groups.
func (c Costs) partsPay(f DeviceFacts) bool {
	if f.ByParts == 0 {
		return false
	}
	keyed := f
	keyed.Groups = cmp.Or(f.Keyed, f.Groups)
	return c.reading(f.byParts())+c.regrouping(f) < (1-c.PartsGain)*c.reading(keyed)
}

// device predicts the seconds of a run on a device. Workers pack rows, or the bytes that the device
// makes rows of, while those packed before cross the link and are decoded; those packed while the
// device starts are copied once more. Groups come back and are finished as the CPU's are.
func (c Costs) device(f DeviceFacts) float64 {
	rows, all := f.counts()
	groups := f.putOut()
	devices := float64(max(f.Devices, 1))
	link := c.Link * devices
	end := c.End
	if !f.Kept && !f.Left {
		end += c.Exit
	}
	others := 1 - f.Encoded
	packing := others*(c.scan(f)+rows*c.Pack) + f.Encoded*float64(f.Bytes)*c.Read + float64(f.Unpacked)*c.Unpack + float64(f.Texts)*c.Text
	expanded := max(f.Encoded*float64(f.Plain)-float64(f.Crossing), 0)
	crossing := others*rows*float64(f.RowSize)/link + float64(f.Crossing)/min(link, c.Decode*devices) + (expanded*c.Expand+all*c.Combine)/devices
	if f.Limit == 0 { // else most rows are dropped before their texts are looked at
		crossing += float64(f.Stored) * cmp.Or(f.Selectivity, 1) * c.Stored / devices
	}
	packing = max(packing/f.builders(), crossing)
	early := crossing * min(c.start(f)/max(packing, 1e-9), 1) // of batches packed before it opens
	put := c.Put
	if f.Regroup && !f.Regroups {
		groups, put = all, c.Group
	}
	back := max((groups*float64(f.RowSize)+8*f.listed())/link, groups*put/f.builders()+f.listed()*c.Listed/min(f.builders(), max(all, 1)))
	return max(packing, c.start(f)) + early + end + back + c.evicting(f)
}

// evicting predicts the seconds for rows whose groups a device has no memory for, and for the
// groups that it has: they cross back to memory that was not touched before, and once more to the
// device if that gains something, or the CPU merges them.
func (c Costs) evicting(f DeviceFacts) float64 {
	rows, groups := f.counts()
	slots := c.TableShare * float64(f.Memory) / float64(max(f.RowSize, 1))
	if f.Memory <= 0 || groups <= slots {
		return 0
	}
	left := rows*(1-slots/groups) + slots
	bytes := left * float64(f.RowSize)
	crossing, placing := bytes/(c.Link*float64(max(f.Devices, 1))), bytes*c.Place/f.builders()
	if rows >= c.LeftGain*groups {
		return placing + 2*crossing
	}
	return placing + crossing + left*c.Group/f.builders()
}

// reading predicts the seconds until all rows are in the workers' tables.
func (c Costs) reading(f DeviceFacts) float64 {
	rows, groups := f.counts()
	own := min(groups, rows/f.threads()) // groups of a worker
	return (c.scan(f) + rows*c.grouping(f, own)) / f.threads()
}

// slower is how many times as long a row takes once a worker's table has its part of all groups, as
// with those that it has now.
func (c Costs) slower(f DeviceFacts, now float64) float64 {
	rows, groups := f.counts()
	row := func(groups float64) float64 {
		return c.scan(f) + rows*c.grouping(f, groups)
	}
	own := min(groups, rows/f.threads())
	return max(row(own)/max(row(now), 1e-12), 1)
}

func (c Costs) start(f DeviceFacts) float64 {
	if f.Kept {
		return c.Ready
	}
	return max(c.Start-f.Opening, c.Ready)
}

// scan is what both ways need.
func (c Costs) scan(f DeviceFacts) float64 {
	computing := float64(f.Operations) * c.Operation
	if f.Sampled {
		computing = f.Computing * c.Crowded
	}
	return float64(max(f.Plain, f.Bytes))*c.Byte + float64(f.Slow)*c.Unpack + float64(f.Rows)*(c.Row+computing) +
		float64(f.Texts+f.Stored)*c.LongKey
}

// grouping is what a row costs in a worker's table of so many groups: more where it and its long
// texts are not in a cache.
func (c Costs) grouping(f DeviceFacts, groups float64) float64 {
	doublings := math.Log2(max(groups*float64(f.RowSize), 1) / c.SmallTable)
	share := min(max(doublings/math.Log2(c.LargeTable/c.SmallTable), 0), 1)
	texts := float64(f.Texts+f.Stored) / float64(max(f.Rows, 1))
	if rows, _ := f.counts(); 2*groups*f.threads() > rows { // they go to partitions, and meet there
		texts /= 2
	}
	return c.TableSmall + (c.TableLarge-c.TableSmall+texts*c.TableText)*share + float64(f.Updates)*c.Update
}

// rest are the facts of a part of the rows.
func (f DeviceFacts) rest(rows int64) DeviceFacts {
	share := float64(rows) / float64(max(f.Rows, 1))
	f.Rows = rows
	for _, n := range []*int64{&f.Bytes, &f.Plain, &f.Slow, &f.Crossing, &f.Unpacked, &f.Texts, &f.Stored} {
		*n = int64(float64(*n) * share)
	}
	return f
}

// counts are rows that are grouped, and groups no more than these. With a limit without an order
// most rows are dropped before they are grouped, by workers and devices (FIRST-KEPT in package
// cpu).
func (f DeviceFacts) counts() (rows, groups float64) {
	rows = float64(f.Rows) * cmp.Or(f.Selectivity, 1)
	groups = min(f.Groups, rows)
	if f.Limit > 0 {
		groups = min(groups, float64(cpu.TableGroups(f.Limit)))
	}
	return rows, groups
}

// putOut is how many groups are finished.
func (f DeviceFacts) putOut() float64 {
	if f.Few || f.Regroup {
		return 0
	}
	_, groups := f.counts()
	return groups
}

// listed is how many values lists have, if there are no NULLs.
func (f DeviceFacts) listed() float64 {
	rows, _ := f.counts()
	return float64(f.Lists) * rows
}

// Expected is about how many groups devices make; 0: not known.
func (f *DeviceFacts) Expected() float64 {
	if f.Groups >= float64(f.Rows) {
		return 0
	}
	return f.Groups
}

// groupsText says on what number of groups a prediction rests.
func (f DeviceFacts) groupsText() string {
	if f.Limit > 0 {
		return fmt.Sprintf("the first %d groups", f.Limit)
	}
	if f.Groups >= float64(f.Rows) {
		return "as many groups as rows"
	}
	return fmt.Sprintf("%.0f groups", f.Groups)
}

func (f DeviceFacts) threads() float64 { return float64(max(f.Threads, 1)) }

func (f DeviceFacts) builders() float64 { return float64(max(cmp.Or(f.Builders, f.Threads), 1)) }

// seconds is a prediction as people read it.
func seconds(s float64) string {
	if s >= 10 {
		return fmt.Sprintf("%.0fs", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond).String()
}
