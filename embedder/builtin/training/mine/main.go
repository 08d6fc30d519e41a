// Command mine makes the pairs of texts that the built-in model is trained on, out of
// mirrors of public repositories:
//
//	go run ./mine -mirrors DIR -out DIR [-list sources.txt] [-without DIR]
//
// The list names the repositories with their commits, so that the same mirrors give the
// same pairs. Package scan finds pairs, package clean filters them. Each source becomes one
// file of the output folder, owner+name.jsonl, a pair a line:
//
//	{"k": kind, "r": "owner/name", "a": shorter text, "b": longer text}
//
// The README beside them counts pairs by source and kind, and dropped pairs by reason.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	o := defaults()
	flag.StringVar(&o.Mirrors, "mirrors", o.Mirrors, "folder of the mirrors, owner+name/repo each")
	flag.StringVar(&o.Out, "out", o.Out, "folder to write to")
	flag.StringVar(&o.List, "list", o.List, "the list of sources")
	flag.StringVar(&o.Without, "without", o.Without, "folder of evaluation sets whose texts must not be trained on")
	flag.StringVar(&o.Only, "only", o.Only, "mine this source only, to try something out: owner/name")
	flag.IntVar(&o.PerKind, "per-kind", o.PerKind, "most pairs of one kind from one source")
	flag.IntVar(&o.PerSource, "per-source", o.PerSource, "most pairs of one source")
	flag.IntVar(&o.Changes, "changes", o.Changes, "newest commits of a source whose changes are read")
	flag.IntVar(&o.Workers, "workers", o.Workers, "sources mined at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mine:", err)
		os.Exit(1)
	}
}
