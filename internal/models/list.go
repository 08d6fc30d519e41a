package models

import (
	"context"
	"errors"

	"github.com/recalld/recalld/embedder"
	"github.com/recalld/recalld/embedder/builtin"
	"github.com/recalld/recalld/embedder/ollama"
	"github.com/recalld/recalld/internal/memory"
)

// List carries out service.Models.
func (s *Service) List(ctx context.Context) ([]memory.ModelState, error) {
	var out []memory.ModelState
	for _, c := range s.opts.Indexer.Collections() {
		used := c.State != memory.CollectionReplaced && c.State != memory.CollectionUnused
		if used && (s.opts.Ollama == nil || c.Model != s.opts.Ollama.Name()) {
			note := ""
			switch {
			case c.Model == builtin.Name:
				note = "built in"
			case c.Model == s.opts.Adapted:
				note = "built in, adapted: see `recalld model show`"
			}
			out = append(out, memory.ModelState{Name: c.Model, Dim: c.Dim, State: "active", Note: note})
		}
	}
	if s.opts.Ollama == nil {
		return out, nil
	}
	own := memory.ModelState{Name: s.opts.Ollama.Name(), State: "active"}
	if err := s.opts.Ollama.absence(); err != nil {
		own.State, own.Note = "missing", serverTrouble(err, s.opts.Ollama.opts.BaseURL)
		if errors.Is(err, embedder.ErrModelNotFound) {
			own.Note = "fetch it with `recalld model pull " + s.opts.Ollama.opts.Model + "`"
		}
	}
	installed, err := s.installed(ctx)
	if err != nil {
		if own.State == "active" { // the server went since the last look
			own.State, own.Note = "missing", serverTrouble(err, s.opts.Ollama.opts.BaseURL)
		}
		return append(out, own), nil
	}
	var others []memory.ModelState
	for _, m := range installed {
		name := "ollama/" + m.Name
		if name == own.Name {
			own.Dim = m.Dim
			continue
		}
		others = append(others, memory.ModelState{
			Name: name, Dim: m.Dim, State: "available", Note: "used when embedding.ollama.model names it",
		})
	}
	return append(append(out, own), others...), nil
}

func (s *Service) installed(ctx context.Context) ([]ollama.ModelInfo, error) {
	server, err := ollama.NewServer(s.opts.Ollama.opts.ServerOptions)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	return server.List(ctx)
}

// Pull carries out service.PullModel.
func (s *Service) Pull(ctx context.Context, name string, progress func(memory.PullProgress)) error {
	if s.opts.Ollama == nil {
		e := &memory.Error{Code: memory.CodeUnavailable, Message: "Ollama is not used", Hint: "set embedding.ollama.enabled to auto"}
		if why := s.opts.Unused; why != "" {
			e.Message, e.Hint = e.Message+": "+why, "set embedding.ollama.url, and embedding.ollama.allow_remote if texts may leave this machine"
		}
		return e
	}
	if err := memory.Text("name", name, 1, memory.MaxNameText); err != nil {
		return err
	}
	server, err := ollama.NewServer(s.opts.Ollama.opts.ServerOptions)
	if err != nil {
		return Unavailable(err, s.opts.Ollama.opts.BaseURL)
	}
	defer server.Close()
	err = server.Pull(ctx, name, func(status string, completed, total int64) {
		progress(memory.PullProgress{Status: status, Completed: completed, Total: total})
	})
	if err != nil {
		return Unavailable(err, s.opts.Ollama.opts.BaseURL)
	}
	s.Look()
	return nil
}

// Unavailable gives an error of the Ollama server at url its code.
func Unavailable(err error, url string) error {
	e := &memory.Error{Code: memory.CodeUnavailable, Message: serverTrouble(err, url), Cause: err}
	switch {
	case errors.Is(err, embedder.ErrModelNotFound):
		e.Code, e.Field = memory.CodeNotFound, "name"
	case errors.Is(err, ollama.ErrRemote):
		e.Code, e.Hint = memory.CodeForbidden, "set embedding.ollama.allow_remote if texts may leave this machine"
	case errors.Is(err, embedder.ErrUnavailable):
		e.Hint = "start it with `ollama serve`, or set embedding.ollama.url"
	}
	return e
}
