// Command recalld is a memory daemon for coding agents, and its command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/recalld/recalld/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, os.Args[1:], cli.Options{})
}
