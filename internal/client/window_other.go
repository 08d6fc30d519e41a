//go:build !linux && !darwin

package client

// lookAt knows nothing here: what runs this process is asked of no system but Linux
// and macOS.
func lookAt(int) (process, bool) { return process{}, false }
