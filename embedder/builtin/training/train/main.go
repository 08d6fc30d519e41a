// Command train makes the model of package builtin from pairs of texts:
//
//	train prepare -pairs DIR -out corpus        vocabulary, and the pairs as tokens
//	train start -corpus corpus -out start       the initial model
//	train learn -corpus corpus -from start -out trained
//	train average -out mean trained1 trained2   the mean of runs from one start
//	train report -corpus corpus -model trained -eval DIR
//	train export -corpus corpus -model trained -out model.bin
//	train pack -model model.bin -pairs DIR -out packed      for encoder/train.py
//
// Pairs are the lines of the .jsonl files of a folder, each an object with the kind of pair
// "k", the repository or data set "r", and the texts "a" and "b". The same files, options
// and processor give the same model. "train VERB -h" lists the options. Some pairs are held
// out (see corpus.split), and speakers in pairs are renamed (see speakers).
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	verbs := map[string]func([]string, io.Writer) error{
		"prepare": prepare, "start": begin, "learn": learn, "average": average, "report": report, "export": export, "pack": pack,
	}
	if len(args) == 0 || verbs[args[0]] == nil {
		return errors.New("want a verb: prepare, start, learn, average, report, export or pack")
	}
	if err := verbs[args[0]](args[1:], out); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}
