//go:build invariant

package invariant

// Enabled tells whether checks run.
const Enabled = true
