package streams

import "errors"

// ErrStopped is what producers are told once the pipeline takes no more jobs
// because of an error, which is wrapped beside it and which Finish returns.
var ErrStopped = errors.New("streams: stopped")

// ErrOutput is the class of an output that is longer than OutBytes.
var ErrOutput = errors.New("output of a job is too long")

// errClosed stops a pipeline that is closed before it is finished.
var errClosed = errors.New("closed before Finish")
