package main

import (
	"math"

	"github.com/gagg-dev/gagg/gpumem/reference"
	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// launch starts one of the kernels that get or give back pages.
type launch func(*kerneltest.PagesBench, *cuda.Stream, cuda.Grid, kernels.PagePool, kerneltest.PageAsk) error

// burst starts one of those that get a page for each of n threads, and do nothing else.
type burst func(*kerneltest.PagesBench, *cuda.Stream, cuda.Grid, kernels.PagePool, cuda.Ptr, uint32) error

// method is a way to find a page in a pool: kernels of kerneltest/pages_bench.cu.
type method struct {
	name     string
	flags    bool  // the pool has a flag for each page, not a bitmap
	locks    bool  // it needs a lock map
	burst    burst // a page for each thread; nil: get
	get      launch
	give     launch
	counted  launch                         // get, with its steps counted; nil for variants
	formulas func(reference.Steps) formulas // nil for variants
}

// word is the pages of a bitmap's word.
const word = 32

// walk is what a walk of each thread alone over words takes.
func walk(b reference.Steps) formulas {
	return formulas{Thread: b.RWBMDrain(word), Warp: b.RWBMDrainWarp(word)}
}

// stretch is the pages that a lane sees in CoRW's looks but the first.
const stretch = 8 * word

// together is what a warp's search takes, each of its lanes the same.
func together(b reference.Steps) formulas {
	bound := b.CoRWWide(word, stretch, min(b.Threads, 32))
	return formulas{Thread: bound, Warp: bound, Bound: true}
}

// flagged is a walk over single pages, exactly known.
func flagged(b reference.Steps) formulas { return formulas{Thread: b.RW(), Warp: b.RWWarp()} }

// The paper's methods as gagg has them. CRW begins like RW-BM, and differs from
// the second page of a thread on.
var methods = []method{
	{
		name: "RW", flags: true, formulas: flagged,
		burst: (*kerneltest.PagesBench).BurstRw,
		get:   (*kerneltest.PagesBench).GetRw, counted: (*kerneltest.PagesBench).GetRwCounted, give: (*kerneltest.PagesBench).FreeFlags,
	},
	{
		name: "RW-BM", formulas: walk,
		burst: (*kerneltest.PagesBench).BurstRwbm,
		get:   (*kerneltest.PagesBench).GetRwbm, counted: (*kerneltest.PagesBench).GetRwbmCounted, give: (*kerneltest.PagesBench).Free,
	},
	{
		name: "CoRW", formulas: together,
		burst: (*kerneltest.PagesBench).BurstCorw,
		get:   (*kerneltest.PagesBench).GetCorw, counted: (*kerneltest.PagesBench).GetCorwCounted, give: (*kerneltest.PagesBench).Free,
	},
	{
		name: "CRW", formulas: walk,
		burst: (*kerneltest.PagesBench).BurstCrw,
		get:   (*kerneltest.PagesBench).GetCrw, counted: (*kerneltest.PagesBench).GetCrwCounted, give: (*kerneltest.PagesBench).Free,
	},
}

// printed are the paper's methods with its lock map, as printed but for what would
// lose pages.
var printed = []method{
	{name: "RW-BM, lock map", locks: true, get: (*kerneltest.PagesBench).GetRwbmLock, give: (*kerneltest.PagesBench).Free},
	{name: "CoRW, lock map", locks: true, get: (*kerneltest.PagesBench).GetCorwLock, give: (*kerneltest.PagesBench).Free},
	{name: "CRW, lock map", locks: true, get: (*kerneltest.PagesBench).GetCrwLock, give: (*kerneltest.PagesBench).Free},
}

// finite is f without what is not a number of JSON: a bound that does not bind.
func (f formulas) finite() formulas {
	if math.IsInf(f.Thread, 0) {
		f.Thread = 0
	}
	if math.IsInf(f.Warp, 0) {
		f.Warp = 0
	}
	return f
}
