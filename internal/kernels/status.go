package kernels

import "fmt"

// Status is what a kernel reports (status.cuh): of the conditions that its
// threads met, the gravest. As an error it is one of the constants, so that
// errors.Is(err, StatusOutOfPages) tells.
type Status uint32

// String is the status's name, as in status.def.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint32(s))
}

// Error is the meaning in words.
func (s Status) Error() string {
	if int(s) < len(statusMeanings) {
		return "kernel: " + statusMeanings[s]
	}
	return fmt.Sprintf("kernel: unknown status %d", uint32(s))
}

// Err is nil for StatusOk, and the status itself for all others.
func (s Status) Err() error {
	if s == StatusOk {
		return nil
	}
	return s
}
