package main

import (
	"errors"
	"fmt"
)

// options say what is mined and how much of it is kept.
type options struct {
	// Mirrors is the folder of the repositories; required.
	Mirrors string
	// Out is the output folder; required, created if needed.
	Out string
	// List is the file of sources.
	List string
	// Without is the folder of evaluation sets; empty checks against none.
	Without string
	// Only is the one source to mine; empty is all of the list.
	Only string
	// PerKind and PerSource are the most pairs of one kind from one source, and of one
	// source, so that no repository dominates the model.
	PerKind, PerSource int
	// Changes is how many of the newest commits of a source have their changes read:
	// computing changes is the largest cost.
	Changes int
	// Workers is how many sources are mined at a time.
	Workers int
}

func defaults() options {
	return options{List: "mine/sources.txt", PerKind: 8000, PerSource: 30000, Changes: 1500, Workers: 2}
}

func (o options) validate() error {
	switch {
	case o.Mirrors == "":
		return errors.New("-mirrors names no folder")
	case o.Out == "":
		return errors.New("-out names no folder")
	case o.PerKind < 1 || o.PerSource < 1:
		return fmt.Errorf("-per-kind %d and -per-source %d must be at least 1", o.PerKind, o.PerSource)
	case o.Changes < 0:
		return fmt.Errorf("-changes %d is negative", o.Changes)
	case o.Workers < 1:
		return fmt.Errorf("-workers %d must be at least 1", o.Workers)
	}
	return nil
}
