// Package egatest is what tests of package ega and of the packages below it share: a device
// ([Rig]), rows that are hard on every way to aggregate them ([Cases]), and the comparison with the
// CPU twin ([Difference]).
package egatest
