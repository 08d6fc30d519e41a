package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/recalld/recalld/embedder/builtin/training/contrast"
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

// begin writes the model that training starts from.
func begin(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	from := flags.String("corpus", "corpus", "file that prepare wrote")
	to := flags.String("out", "start", "file to write")
	o := startOptions{}
	flags.IntVar(&o.Width, "width", 256, "components of a row")
	flags.IntVar(&o.Pairs, "sample", 200_000, "pairs to look at")
	flags.Float64Var(&o.Whiten, "whiten", .5, "0: the commonest subjects rule, 1: all directions count alike")
	flags.Float64Var(&o.Even, "even", .5, "0: rows of rare tokens are short, 1: all are equally long")
	flags.Uint64Var(&o.Seed, "seed", 1, "of what is drawn by chance")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := loadCorpus(*from)
	if err != nil {
		return err
	}
	train, _ := c.split()
	began := time.Now()
	m, err := start(c, train, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d tokens of width %d, %s\n", m.Tokens(), m.Width, time.Since(began).Round(time.Second))
	return saveModel(*to, m)
}

// saveModel writes a model to a file.
func saveModel(name string, m *contrast.Model) error { return writeFile(name, m.Write) }

// loadModel reads what saveModel wrote.
func loadModel(name string) (*contrast.Model, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	defer f.Close()
	return contrast.ReadModel(f)
}

// writeFile replaces a file by what write writes.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), name)
}
