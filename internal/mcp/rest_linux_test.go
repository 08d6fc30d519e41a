package mcp

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestGiveMemoryBack: pages of the program's file are given back, and the program goes on.
func TestGiveMemoryBack(t *testing.T) {
	before := mappedKB(t)
	giveMemoryBack()
	if after := mappedKB(t); after > before/2 {
		t.Errorf("%d kB of files are in memory, %d before", after, before)
	}
}

// mappedKB returns how much of files the process has in memory, in kB; see
// proc_pid_status(5).
func mappedKB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatalf("RssFile: %v", err)
	}
	return n
}
