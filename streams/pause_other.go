//go:build !linux

package streams

import "time"

// pause is never reached where package cuda opens no device.
func pause() { time.Sleep(time.Millisecond) }
