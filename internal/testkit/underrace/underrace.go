// Package underrace keeps tests without concurrency out of the run under the race detector.
// What one goroutine computes, such as scores, codecs and tables of limits, has no data race
// to find and takes five to twenty times as long there; go test ./... runs it in full.
package underrace

import "testing"

// Skip skips the test under the race detector, and says why. If a part of its subject is
// concurrent, another test must run that part there.
func Skip(t testing.TB, why string) {
	t.Helper()
	if on {
		t.Skip("not under the race detector, but in go test ./...: " + why)
	}
}

// Steps returns how many steps a test makes: plain, or fewer under the race detector, where
// they need only show what runs beside what.
func Steps(plain, under int) int {
	if on {
		return under
	}
	return plain
}
