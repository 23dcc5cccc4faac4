//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// inForeground reports whether this process may write to the terminal without being in the way:
// `gagg … &` leaves the terminal to the shell.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}
