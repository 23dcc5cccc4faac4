// Package lint holds no code, only tests of the shape of the module: which
// package imports which, who may use which library, and what a package may
// be called.
package lint
