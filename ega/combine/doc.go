// Package combine says how the state words of two rows of one key are combined. The layout of
// states (internal/agg) and the device (package ega) share these definitions. The package is data
// alone and imports nothing, so that the CPU executor depends on no device.
//
// An [Op] is the operation that combines one word. A word may have a mate, another word of the row
// that takes what the operation leaves over: the carry of a sum, its rounding error, the greater
// of two values. A [List] says which words keep all values of a group.
package combine
