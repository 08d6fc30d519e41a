//go:build !linux && !darwin

package store

import (
	"math"
	"os"
)

// lookAtDisk knows nothing of the disk on this system: it always has room.
func lookAtDisk(string) (diskState, error) { return diskState{free: math.MaxInt64}, nil }

// allocate does nothing on this system.
func allocate(*os.File, int64, int64) error { return nil }
