// Package combine says what becomes of the words of two rows of one key when they combine: the
// words of states that whoever lays them out (internal/agg) and whoever combines them on a device
// (package ega) have in common. It is data alone, and imports nothing, so that the CPU executor
// knows of no device.
//
// An [Op] is what becomes of one word. A word may have a mate, another word of the row that takes
// what the operation leaves over: the carry of a sum, its rounding error, the greater of two
// values. A [List] says which words keep all values of a group.
package combine
