package agentctx

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recalld/recalld/internal/memory"
)

// The last override that fits wins, setting by setting.
func TestSettingsFor(t *testing.T) {
	s := TaskSettings{Window: 5, Overrides: []TaskOverride{
		{TaskType: "migration", Window: new(10), RequiresContext: new(true)},
		{Project: "shop", RequiresContext: new(true), LeaveOut: new(true)},
		{Project: "p-1", TaskType: "migration", RequiresContext: new(false)},
	}}
	shop := memory.Project{ID: "p-1", Name: "store", Names: []string{"store", "shop"}}
	other := memory.Project{ID: "p-2", Name: "other"}
	for name, test := range map[string]struct {
		project  memory.Project
		taskType string
		want     TaskTypeSettings
	}{
		"nothing fits":      {other, "", TaskTypeSettings{Window: 5}},
		"the type":          {other, "migration", TaskTypeSettings{Window: 10, RequiresContext: true}},
		"another type":      {other, "fix", TaskTypeSettings{Window: 5}},
		"an earlier name":   {shop, "", TaskTypeSettings{Window: 5, RequiresContext: true, LeaveOut: true}},
		"the last that has": {shop, "migration", TaskTypeSettings{Window: 10, LeaveOut: true}},
	} {
		if diff := cmp.Diff(test.want, s.For(test.project, test.taskType)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	for field, change := range map[string]func(*TaskOptions){
		"writer":   func(o *TaskOptions) { o.Writer = nil },
		"projects": func(o *TaskOptions) { o.Projects = nil },
		"records":  func(o *TaskOptions) { o.Records = nil },
		"store":    func(o *TaskOptions) { o.Store = nil },
		"window":   func(o *TaskOptions) { o.Settings = TaskSettings{} },
		"overrides[1].window": func(o *TaskOptions) {
			o.Settings = TaskSettings{Window: 1, Overrides: []TaskOverride{{}, {Window: new(101)}}}
		},
		"": func(o *TaskOptions) {
			o.Settings = TaskSettings{Window: 100, Overrides: []TaskOverride{{Window: new(100)}}}
		},
	} {
		newTaskRig(t, func(_ *taskRig, o *TaskOptions) {
			opts := *o
			change(&opts)
			if _, err := NewTasks(opts); field == "" && err != nil || field != "" && memory.AsError(err).Field != field {
				t.Errorf("options without a good %q: %v", field, err)
			}
		})
	}
}
