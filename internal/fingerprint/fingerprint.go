// Package fingerprint gives an error message a name that stays the same while
// paths, numbers, addresses, times and colours in it change.
package fingerprint

// Of returns the fingerprints of the errors that a text tells, the most telling
// first; none for a text that tells of no error.
func Of(text string) []string { return nil }
