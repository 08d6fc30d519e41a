package agentctx

import (
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// TaskSettings say how tasks are stored and shown, unless an override applies.
type TaskSettings struct {
	// Window is the number of completed tasks in the recent-task summary.
	Window int `json:"window" limit:"1-100"`
	// RequiresContext applies to a task that does not say.
	RequiresContext bool
	// Overrides are applied in order; the last one that sets a setting wins.
	Overrides []TaskOverride `json:"overrides"`
}

// TaskOverride changes settings for a project, a type of task, or both. Nil changes nothing.
type TaskOverride struct {
	Project  string // id or name; empty is any
	TaskType string // empty is any
	Window   *int   `json:"window,omitempty" limit:"1-100"`
	// RequiresContext is of a task that does not say.
	RequiresContext *bool
	// LeaveOut assembles contexts without history and code, as if the request required none.
	LeaveOut *bool
}

// TaskTypeSettings apply to one type of task in one project.
type TaskTypeSettings struct {
	Window                    int
	RequiresContext, LeaveOut bool
}

// For returns the settings of a type of task in a project. An empty type is a task without a
// type; overrides of a type do not apply to it.
func (s *TaskSettings) For(p memory.Project, taskType string) TaskTypeSettings {
	out := TaskTypeSettings{Window: s.Window, RequiresContext: s.RequiresContext}
	for _, o := range s.Overrides {
		if !o.fits(p, taskType) {
			continue
		}
		if o.Window != nil {
			out.Window = *o.Window
		}
		if o.RequiresContext != nil {
			out.RequiresContext = *o.RequiresContext
		}
		if o.LeaveOut != nil {
			out.LeaveOut = *o.LeaveOut
		}
	}
	return out
}

func (o *TaskOverride) fits(p memory.Project, taskType string) bool {
	return (o.Project == "" || o.Project == p.ID || o.Project == p.Name || slices.Contains(p.Names, o.Project)) &&
		(o.TaskType == "" || o.TaskType == taskType)
}

// Settings returns the settings of a type of task in a project.
func (s *Tasks) Settings(p memory.Project, taskType string) TaskTypeSettings {
	return s.opts.Settings.For(p, taskType)
}
