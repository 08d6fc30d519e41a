// Package testlong keeps long tests out of the default run. A test that kills
// processes, fills disks, drives the built program or repeats thousands of random
// steps takes seconds; go test ./... leaves it out or makes fewer steps, and make long
// runs it in full.
package testlong

import (
	"os"
	"testing"
)

// Env is the environment variable that turns long tests on.
const Env = "RECALLD_TEST_LONG"

// Enabled reports whether long tests run in full.
func Enabled() bool { return os.Getenv(Env) != "" }

// Only skips the test unless long tests are on.
func Only(t testing.TB) {
	t.Helper()
	if !Enabled() {
		t.Skipf("a long test: run make long, or set %s=1", Env)
	}
}

// Steps returns how many steps a test makes: short by default, long in a long run.
func Steps(short, long int) int {
	if Enabled() {
		return long
	}
	return short
}
