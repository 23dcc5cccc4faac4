//go:build nogpu || !linux || !(amd64 || arm64)

package cuda

func openLibrary(string) (uintptr, error) { return 0, errNoGPU }

func findSymbol(uintptr, string) uintptr { return 0 }

// Neither call is ever reached: nothing was opened.

func (l *library) call(symbol, ...uintptr) code { return unknown }

func (l *library) callFast(symbol, ...uintptr) code { return unknown }

func systemThread() int { return 0 }
