package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/store"
)

// CheckStore reads the whole store of a data folder that no daemon serves and
// returns what is wrong with it, nil when it is sound. Found is apart from err,
// which says that the check itself failed: CodeConflict while a daemon holds
// the folder.
func CheckStore(ctx context.Context, cfg config.Config, version string) (found, err error) {
	return checkStore(ctx, cfg, version, 0)
}

// checkStore is CheckStore with a store's write buffer, as in Options.
func checkStore(ctx context.Context, cfg config.Config, version string, memTable int64) (found, err error) {
	paths := cfg.Paths()
	lock, err := lockFolder(ctx, paths, version, lockPatience)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	model, _ := builtinOf(paths.Models) // see CheckModel
	core, err := OpenCore(ctx, CoreOptions{Dir: paths.Store, MemTableSize: memTable, Config: cfg, Builtin: model})
	if damaged, ok := errors.AsType[*store.DamagedError](err); ok {
		return damaged, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, core.Close()) }()
	if err := core.Load(ctx); err != nil {
		return fmt.Errorf("the indexes cannot be loaded: %w", err), nil
	}
	if damage := core.Store.Damage(); damage != nil {
		found = &store.DamagedError{Damage: *damage}
	}
	return errors.Join(found, core.Store.Check()), nil
}

// CheckModel says why the adapted model of a data folder cannot be used; nil where it
// can, and where there is none.
func CheckModel(cfg config.Config) error {
	_, err := builtinOf(cfg.Paths().Models)
	return err
}
