package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/recalld/recalld/embedder/builtin/contrast"
)

// saveModel writes a model to a file.
func saveModel(name string, m *contrast.Model) error {
	return writeFile(name, func(w io.Writer) error { return writeModel(w, m) })
}

// loadBoth reads a corpus and a model over its vocabulary.
func loadBoth(corpusFile, modelFile string) (*corpus, *contrast.Model, error) {
	c, err := loadCorpus(corpusFile)
	if err != nil {
		return nil, nil, err
	}
	m, err := loadModel(modelFile)
	return c, m, err
}

// loadModel reads a model written by saveModel.
func loadModel(name string) (*contrast.Model, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open model: %w", err)
	}
	defer f.Close()
	return readModel(f)
}

// writeFile replaces a file atomically by the output of write.
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
