package config

import (
	"errors"
	"path"
	"path/filepath"
)

// folders are the platform's places for a program's files.
type folders struct{ config, data string }

// platformFolders returns recalld's folders by the rules of an operating
// system: the XDG base directories on Linux and the like, Application Support
// on macOS, AppData on Windows.
//
// A table of our own, and not adrg/xdg: that one reads the environment and
// user-dirs.dirs when the program starts, which every short-lived hook would
// pay, and keeps the answer in globals that a test cannot replace.
func platformFolders(goos string, getenv func(string) string) (folders, error) {
	home := homeFolder(goos, getenv)
	base := func(variable string, fallback ...string) string {
		// The XDG specification has relative paths ignored.
		if dir := getenv(variable); variable != "" && filepath.IsAbs(dir) {
			return filepath.Join(dir, "recalld")
		}
		if home == "" {
			return ""
		}
		return filepath.Join(home, filepath.Join(fallback...), "recalld")
	}
	var f folders
	switch goos {
	case "darwin":
		f.config = base("", "Library", "Application Support")
		f.data = f.config
	case "windows":
		f.config = base("APPDATA", "AppData", "Roaming")
		f.data = base("LOCALAPPDATA", "AppData", "Local")
	default:
		f.config = base("XDG_CONFIG_HOME", ".config")
		f.data = base("XDG_DATA_HOME", ".local", "share")
	}
	if f.config == "" || f.data == "" {
		return f, errors.New("the home folder is not known: HOME is not set to an absolute path; name a data folder with --data or RECALLD_DATA")
	}
	return f, nil
}

// homeFolder is the user's home by the rules of an operating system; empty if
// the environment does not say.
func homeFolder(goos string, getenv func(string) string) string {
	if goos == "windows" {
		return getenv("USERPROFILE")
	}
	if home := getenv("HOME"); path.IsAbs(home) { // else each working folder would have data of its own
		return home
	}
	return ""
}
