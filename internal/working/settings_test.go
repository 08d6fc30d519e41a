package working

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// The last override that fits wins, setting by setting.
func TestSettingsFor(t *testing.T) {
	s := Settings{Window: 5, Overrides: []Override{
		{TaskType: "migration", Window: new(10), RequiresContext: new(true)},
		{Project: "shop", RequiresContext: new(true), LeaveOut: new(true)},
		{Project: "p-1", TaskType: "migration", RequiresContext: new(false)},
	}}
	shop := memory.Project{ID: "p-1", Name: "store", Names: []string{"store", "shop"}}
	other := memory.Project{ID: "p-2", Name: "other"}
	for name, test := range map[string]struct {
		project  memory.Project
		taskType string
		want     TaskSettings
	}{
		"nothing fits":      {other, "", TaskSettings{Window: 5}},
		"the type":          {other, "migration", TaskSettings{Window: 10, RequiresContext: true}},
		"another type":      {other, "fix", TaskSettings{Window: 5}},
		"an earlier name":   {shop, "", TaskSettings{Window: 5, RequiresContext: true, LeaveOut: true}},
		"the last that has": {shop, "migration", TaskSettings{Window: 10, LeaveOut: true}},
	} {
		if diff := cmp.Diff(test.want, s.For(test.project, test.taskType)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	for field, change := range map[string]func(*Options){
		"writer":              func(o *Options) { o.Writer = nil },
		"projects":            func(o *Options) { o.Projects = nil },
		"shelf":               func(o *Options) { o.Shelf = nil },
		"store":               func(o *Options) { o.Store = nil },
		"tokens":              func(o *Options) { o.Tokens = nil },
		"window":              func(o *Options) { o.Settings = &Settings{} },
		"overrides[1].window": func(o *Options) { o.Settings = &Settings{Window: 1, Overrides: []Override{{}, {Window: new(101)}}} },
		"":                    func(o *Options) { o.Settings = &Settings{Window: 100, Overrides: []Override{{Window: new(100)}}} },
	} {
		newRig(t, func(_ *rig, o *Options) {
			opts := *o
			change(&opts)
			if _, err := New(opts); field == "" && err != nil || field != "" && memory.AsError(err).Field != field {
				t.Errorf("options without a good %q: %v", field, err)
			}
		})
	}
}
