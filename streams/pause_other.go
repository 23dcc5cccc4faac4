//go:build !linux

package streams

import "time"

// Pause is never reached where package cuda opens no device.
func Pause() { time.Sleep(time.Millisecond) }
