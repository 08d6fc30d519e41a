//go:build race

package underrace

const on = true
