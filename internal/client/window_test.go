package client

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestWindowOf: hooks that a client runs through shells, and its bridge, name the
// client; another window has another name, and so has a process that got its number.
func TestWindowOf(t *testing.T) {
	table := map[int]process{
		2:  {parent: 1, name: "terminal", started: "1"},
		10: {parent: 2, name: "claude", started: "5"},
		11: {parent: 10, name: "/bin/sh", started: "6"},
		12: {parent: 11, name: "-bash", started: "7"},
		20: {parent: 2, name: "claude", started: "8"},
		30: {parent: 31, name: "sh"}, 31: {parent: 30, name: "sh"},
		41: {parent: 1, name: "sh"},
	}
	look := func(pid int) (process, error) {
		p, ok := table[pid]
		if !ok {
			return p, fs.ErrNotExist
		}
		return p, nil
	}
	for pid, want := range map[int]string{
		10: "process:10:5", 11: "process:10:5", 12: "process:10:5", 20: "process:20:8",
		30: "", 41: "", 99: "", 1: "",
	} {
		if got := windowOf(pid, look); got != want {
			t.Errorf("the window of what process %d runs is %q, want %q", pid, got, want)
		}
	}
	table[10] = process{parent: 2, name: "claude", started: "9"}
	if got := windowOf(10, look); got != "process:10:9" {
		t.Errorf("a process that has the number of one that ended is the window %q, want process:10:9", got)
	}
}

// TestWindow: what this process runs, directly or through a shell, is in its window.
func TestWindow(t *testing.T) {
	if os.Getenv("RECALLD_TEST_WINDOW") != "" {
		os.Stdout.WriteString("window=" + Window() + "\n")
		return
	}
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("this system does not tell who runs a process")
	}
	self := os.Args[0] + " -test.run '^TestWindow$'"
	var windows []string
	for _, command := range []*exec.Cmd{
		exec.Command(os.Args[0], "-test.run", "^TestWindow$"), exec.Command("sh", "-c", self), exec.Command("sh", "-c", self+"; true"),
	} {
		command.Env = append(os.Environ(), "RECALLD_TEST_WINDOW=1")
		out, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, window, _ := strings.Cut(string(out), "window=")
		window, _, _ = strings.Cut(window, "\n")
		windows = append(windows, window)
	}
	if windows[0] == "" || windows[1] != windows[0] || windows[2] != windows[0] {
		t.Errorf("run directly, by a shell, and by a shell that stays: windows %q, want one for all", windows)
	}
}

func TestGone(t *testing.T) {
	look := func(pid int) (process, error) {
		switch pid {
		case 7:
			return process{parent: 1, started: "100"}, nil
		case 9:
			return process{}, syscall.EMFILE
		}
		return process{}, fs.ErrNotExist
	}
	for window, want := range map[string]bool{
		"process:7:100": false, "process:7:99": true, "process:8:100": true,
		"process:9:100": false, // it cannot be seen now
		"":              false, "process:x:100": false, "process:1:100": false, "tab:8:100": false,
	} {
		if got := goneOf(window, look); got != want {
			t.Errorf("%q is gone: %t", window, got)
		}
	}
	if ended := exec.Command(os.Args[0], "-test.run", "^$"); runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		if err := ended.Run(); err != nil {
			t.Fatal(err)
		}
		if window := fmt.Sprintf("process:%d:1", ended.Process.Pid); !Gone(window) {
			t.Errorf("the process of %s has ended, and is not gone", window)
		}
	}
	if own := Window(); own != "" && Gone(own) {
		t.Error("the process that runs the tests is gone")
	}
}
