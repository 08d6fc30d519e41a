package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/recalld/recalld/internal/connect"
	"github.com/recalld/recalld/internal/render"
)

// clientState is how one client stands.
type clientState struct {
	Client    string           `json:"client"`
	Title     string           `json:"title"`
	Installed bool             `json:"installed"`
	Found     connect.Found    `json:"found"`
	Parts     []connect.Status `json:"parts"`
}

// listClients lists the clients and how they stand, in both scopes where the
// working folder is in a project.
func (a *App) listClients(f *connectFlags) error {
	machine, err := a.machine()
	if err != nil {
		return err
	}
	options := a.connectOptions(f)
	scopes := []connect.Options{options}
	if dir, err := a.projectDir(f); err == nil {
		options.Scope, options.Dir = connect.Project, dir
		scopes = append(scopes, options)
	} else if f.project || f.dir != "" {
		return err
	}
	var all []clientState
	for _, c := range connect.Clients() {
		state := clientState{Client: c.Name, Title: c.Title, Found: c.Found(machine), Parts: []connect.Status{}}
		state.Installed = state.Found.Here()
		for _, o := range scopes {
			parts, err := c.Status(machine, o)
			if err != nil {
				return err
			}
			state.Parts = append(state.Parts, parts...)
		}
		all = append(all, state)
	}
	return a.answer(map[string]any{"clients": all}, func(w io.Writer) { writeClients(w, all) })
}

// writeClients shows the clients that are installed or connected.
func writeClients(w io.Writer, all []clientState) {
	rows := [][]string{{"CLIENT", "SCOPE", "PART", "STATE", "FILE"}}
	for _, c := range all {
		for _, p := range c.Parts {
			// A project needs no settings of its own: the user's serve it.
			missing := p.State == connect.NotConnected
			if missing && (!c.Installed || p.Scope == connect.Project) {
				continue
			}
			rows = append(rows, []string{c.Client, string(p.Scope), p.What, string(p.State), p.Path})
		}
	}
	if len(rows) == 1 {
		fmt.Fprintf(w, "No supported client was found on this machine. Supported: %s.\nRun 'recalld connect CLIENT' to connect one anyway.\n", strings.Join(clientNames(), ", "))
		return
	}
	render.Table(w, rows)
	fmt.Fprintln(w, "\nRun 'recalld connect CLIENT' to connect one, or 'recalld connect --all'.")
}

// foundClients are the clients on this machine, and those of them that are not connected.
func (a *App) foundClients(f *connectFlags) (found, missing []connect.Client, err error) {
	machine, err := a.machine()
	if err != nil {
		return nil, nil, err
	}
	for _, c := range connect.Clients() {
		if !c.Found(machine).Here() {
			continue
		}
		found = append(found, c)
		parts, err := c.Status(machine, a.connectOptions(f))
		if err != nil {
			return nil, nil, err
		}
		if len(parts) > 0 && parts[0].State == connect.NotConnected {
			missing = append(missing, c)
		}
	}
	return found, missing, nil
}
