package main

import (
	"flag"
	"fmt"
	"io"
	"time"
)

// prepare makes a corpus of files of pairs.
func prepare(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("prepare", flag.ContinueOnError)
	dir := flags.String("pairs", "", "folder of .jsonl files of pairs")
	to := flags.String("out", "corpus", "file to write")
	words := flags.Int("pieces", 45_000, "pieces of the vocabulary")
	buckets := flags.Int("buckets", 15_000, "buckets for what is not in it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	files, err := pairFiles(*dir)
	if err != nil {
		return err
	}
	began := time.Now()
	counter, err := countFiles(files)
	if err != nil {
		return err
	}
	v, err := counter.vocabulary(*words, *buckets)
	if err != nil {
		return err
	}
	c, err := tokenize(files, v)
	if err != nil {
		return err
	}
	train, held := c.split()
	for k, at := range c.byKind(train) {
		fmt.Fprintf(out, "%-20s %8d pairs to train on, %6d held out\n", c.Kinds[k], len(at), len(c.byKind(held)[k]))
	}
	fmt.Fprintf(out, "%d pairs of %d sources, %d pieces and %d buckets, %s\n",
		c.Pairs.Len(), len(c.Sources), v.Pieces(), v.Buckets(), time.Since(began).Round(time.Second))
	return c.save(*to)
}
