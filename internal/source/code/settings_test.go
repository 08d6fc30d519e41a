package code

import (
	"cmp"
	"testing"

	"github.com/recalld/recalld/internal/config"
	"github.com/recalld/recalld/internal/memory"
)

// settings fills in what a test leaves out as the settings' defaults have it.
func settings(o Options) Options {
	x := config.Default().Index
	o.MaxFileSize = cmp.Or(o.MaxFileSize, int64(x.MaxFileSize))
	o.MaxFiles = cmp.Or(o.MaxFiles, x.MaxFiles)
	o.TimeLimit = cmp.Or(o.TimeLimit, x.TimeLimit)
	o.Workers = cmp.Or(o.Workers, 2)
	if o.SkipDirs == nil {
		o.SkipDirs = x.SkipDirs
	}
	if o.SkipFiles == nil {
		o.SkipFiles = x.SkipFiles
	}
	return o
}

// The settings belong to who configures the daemon: none has a second default
// here that could drift from the first.
func TestSettingsAreRequired(t *testing.T) {
	whole := settings(Options{})
	for name, take := range map[string]func(*Options){
		"index.max_file_size": func(o *Options) { o.MaxFileSize = 0 }, "index.max_files": func(o *Options) { o.MaxFiles = 0 },
		"index.time_limit": func(o *Options) { o.TimeLimit = 0 }, "Workers": func(o *Options) { o.Workers = -1 },
		"index.skip_files": func(o *Options) { o.SkipFiles = []string{"["} },
	} {
		o := whole
		take(&o)
		if e, _ := o.validate().(*memory.Error); e == nil || e.Field != name {
			t.Errorf("without %s: %v", name, e)
		}
	}
	if err := whole.validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}
