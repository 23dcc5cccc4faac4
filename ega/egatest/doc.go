// Package egatest holds what the tests of package ega and of the packages below it share: a device
// ([Rig]), rows that are difficult for every strategy ([Cases]), and the comparison with the CPU
// twin ([Difference]).
package egatest
