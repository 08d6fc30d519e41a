package config

// onReadOnlyDisk is not asked on Windows.
func onReadOnlyDisk(string) bool { return false }
