package gpumem_test

// machines is what justifies the pool's algorithms on the device and here. What
// the checker finds, for paper 000:
//
//   - Algorithm 1 is right, and a flag that a page has for itself can be cleared
//     by a plain store. Test and set must be one access.
//   - Algorithms 2 and 5 as printed keep the lock for ever, Algorithm 3 writes
//     nothing back.
//   - With the lock, the word must still be set by atomicOr: a plain store
//     overwrites puts, which do not take the lock. A put of a bit by plain read
//     and store is wrong, even with no get beside it. It is right under the lock
//     with plain stores everywhere, and then waits.
//   - With lock and atomicOr, the read must not move before the lock, or what
//     atomicOr returns must decide.
//   - If that decides, the lock is superfluous: read and atomicOr are enough. That
//     is the cheapest right get.
//   - To mark a whole word and give the rest back is right as long as only what
//     was free is given back, else pages of others and past the end come alive.
//     But others see a full word: with it no sweep can tell out of memory.
//   - A run across two words is two atomicOr; what was got is given back in any
//     order, never what was asked for.
//   - A walk over T/w words, rounded down, never finds the pages of a last word
//     that is not whole; bits past the end must start marked.
func machines() []machine {
	const all = modelWords * wordPages
	or := orGet(modelWords)
	gp, gpgp, three := []string{"gpg", "gp"}, []string{"gpgp", "gpg"}, []string{"gp", "gp", "gp"}
	return []machine{
		{name: "flags", get: flagGet(true), put: oncePut(), pages: 3, scripts: three},
		{name: "flags, test and set apart", get: flagGet(false), put: oncePut(), pages: 3, scripts: gp, broken: "ONCE"},

		{name: "algorithm 2 as printed", get: lockGet(lockRules{keep: true}), put: oncePut(), pages: 3, scripts: gpgp, broken: "ENDS"},
		{name: "algorithm 3 as printed", get: lockGet(lockRules{nothing: true}), put: oncePut(), pages: 3, scripts: gp, broken: "ONCE"},
		{name: "lock and store", get: lockGet(lockRules{store: true}), put: oncePut(), pages: all, scripts: gp, broken: "KEPT"},
		{name: "lock and store, no put", get: lockGet(lockRules{store: true}), pages: 3, scripts: []string{"g", "g", "g"}},
		{name: "lock and store, put by plain store", get: lockGet(lockRules{store: true}), put: plainPut(false), pages: all, scripts: gp, broken: "KEPT"},
		{name: "lock and store, put under the lock", get: lockGet(lockRules{store: true}), put: plainPut(true), pages: 3, scripts: three},
		{name: "lock and or", get: lockGet(lockRules{}), put: oncePut(), pages: 3, scripts: three},
		{name: "lock and or, read early", get: lockGet(lockRules{early: true}), put: oncePut(), pages: 3, scripts: gp, broken: "ONCE"},
		{name: "lock and or, read early, result decides", get: lockGet(lockRules{early: true, check: true}), put: oncePut(), pages: 3, scripts: three},
		{name: "lock and or, put by plain store", get: lockGet(lockRules{}), put: plainPut(false), pages: all, scripts: gp, broken: "KEPT"},

		{name: "or", get: or, put: oncePut(), pages: 3, scripts: three},
		{name: "or, all pages in use", get: or, put: oncePut(), pages: 3, scripts: []string{"ggp", "gpg"}},
		{name: "or, last word not in the walk", get: orGet(3 / wordPages), put: oncePut(), pages: 3, scripts: []string{"g", "gg"}, broken: "ENDS"},
		{name: "or, bits past the end clear", get: or, put: oncePut(), pages: 3, stray: true, scripts: gp, broken: "PAST"},
		{name: "or, put by plain store", get: or, put: plainPut(false), pages: all, scripts: gp, broken: "KEPT"},

		{name: "whole word", get: takeAllGet(false), put: oncePut(), pages: 3, scripts: three},
		{name: "whole word, all given back", get: takeAllGet(true), put: oncePut(), pages: 3, scripts: gp, broken: "PAST"},
		{name: "whole word, all given back, words full of pages", get: takeAllGet(true), put: oncePut(), pages: all, scripts: gp, broken: "ONCE"},

		{name: "runs", get: runGet(false), put: oncePut(), pages: 3, scripts: []string{"gppgpp", "gpp"}},
		{name: "runs, all given back", get: runGet(true), put: oncePut(), pages: 3, scripts: []string{"gpp", "gpp"}, broken: "PAST"},
		{name: "runs, all given back, words full of pages", get: runGet(true), put: oncePut(), pages: all, scripts: []string{"gpp", "gpp"}, broken: "ONCE"},
	}
}
