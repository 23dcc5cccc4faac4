// Package state owns what a table of states says of itself: its header, which is JSON in the
// metadata of the table's Arrow schema. docs/state-format.md is the format for readers other than
// gagg.
//
// # Terms
//
//	state     what the aggregates of a group have come to, to be combined with others of that group
//	source    an input as a whole: all files that one command named
//	share     rows of a source, as stretches of it
//	position  the number of a row: in its source, behind all rows of the sources before it
//
// # Positions
//
// first, list and others go by the order of rows. Within a source that is their number in it, so
// that the parts of one are states in one order, whichever is merged first. Sources follow one
// another as the header lists them.
//
// POSITION-ORDER: where states are merged, the order of the sources agrees with that of each state,
// which has dropped what comes later in its own: of two firsts it has one. What the states leave
// open goes by how sources are first met, from the first state on. States with positions whose
// orders contradict each other are not merged. A position of a state is moved by what its source
// has been moved (Moved); positions of one state keep their order.
//
// SHARE-ONCE: states of the same rows are not merged, since these would count twice. Sources are
// the same if their ID is; one without an ID is like no other.
package state
