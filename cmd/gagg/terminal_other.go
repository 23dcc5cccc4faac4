//go:build !linux && !darwin

package main

func inForeground(int) bool { return true }
