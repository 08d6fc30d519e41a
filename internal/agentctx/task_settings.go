package agentctx

import (
	"fmt"
	"slices"

	"github.com/recalld/recalld/internal/memory"
)

// TaskSettings say how tasks are stored and shown, unless an override applies.
type TaskSettings struct {
	// Window is the number of completed tasks in the recent-task summary,
	// 1–memory.MaxWindow.
	Window int
	// RequiresContext applies to a task that does not say.
	RequiresContext bool
	// Overrides are applied in order; the last one that sets a setting wins.
	Overrides []TaskOverride
}

// TaskOverride changes settings for a project, a type of task, or both. Nil changes nothing.
type TaskOverride struct {
	Project  string // id or name; empty is any
	TaskType string // empty is any
	Window   *int
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

// DefaultTaskSettings returns the settings of contract 3.
func DefaultTaskSettings() TaskSettings { return TaskSettings{Window: memory.DefaultWindow} }

func (s *TaskSettings) validate() error {
	if err := validWindow("window", s.Window); err != nil {
		return err
	}
	for i, o := range s.Overrides {
		if o.Window != nil {
			if err := validWindow(fmt.Sprintf("overrides[%d].window", i), *o.Window); err != nil {
				return err
			}
		}
	}
	return nil
}

func validWindow(field string, n int) error {
	if n < 1 || n > memory.MaxWindow {
		return memory.Invalid(field, fmt.Sprintf("1–%d", memory.MaxWindow), "%d is out of range", n)
	}
	return nil
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
