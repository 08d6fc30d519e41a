package daemon

import "github.com/recalld/recalld/internal/memory"

// indexed reads the history of a folder whose index is up to date, if HEAD has moved.
func (d *Daemon) indexed(box memory.Sandbox) {
	if d.core.History != nil {
		d.core.History.Refresh(box.ID, box.Root)
	}
}

// forgotten drops the history of a folder that is not indexed any more.
func (d *Daemon) forgotten(sandbox string) {
	if d.core.History != nil {
		d.core.History.Drop(sandbox)
	}
}
