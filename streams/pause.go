package streams

// Pause sleeps for a moment, on the OS thread of the caller: for who asks the device whether it is done, again and again.
func Pause() { pause() }
