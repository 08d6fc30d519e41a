package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recalld/recalld/internal/memory"
	"github.com/recalld/recalld/internal/render"
	"github.com/recalld/recalld/internal/service"
	"github.com/recalld/recalld/internal/team"
)

// teamCommand shares lessons among the members of a team.
func teamCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use:   "team",
		Short: "Share lessons with a team, over a PostgreSQL server of its own",
		Long: `Share the lessons of projects that you choose with your team. The team has a database on
a PostgreSQL server (13 or newer). Its operator prepares it and adds members:

  recalld team init URL
  recalld team add ann URL

Each member joins once with the address that 'team add' printed, and chooses projects:

  recalld team join 'postgres://ann:…@db.example.org/recalld?sslmode=verify-full'
  recalld team share

Lessons travel with their outcomes, and so do their supersession, retraction and
forgetting. Code, steps, sessions and private lessons (remember --private) never leave this
machine, nor do secrets; summaries of sessions do if the setting team.summaries says so. All
that is shared is kept on this machine too, so answers never wait for the server.`,
		Example: "  recalld team\n  recalld team share",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return answerTeam(c, a, service.Team, service.None{}) },
	}
	c.AddCommand(teamStatus(a), teamJoin(a), teamShare(a), teamUnshare(a), teamLeave(a), teamInit(a), teamAdd(a), teamRemove(a))
	return c
}

func teamStatus(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show who you are in which team, and what is shared", Args: cobra.NoArgs,
		Example: "  recalld team status --json",
		RunE:    func(c *cobra.Command, _ []string) error { return answerTeam(c, a, service.Team, service.None{}) },
	}
}

func teamJoin(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "join URL", Short: "Join a team",
		Long: `Join the team whose server URL names. The server, the name, the schema and the clock are
checked. The connection must be encrypted and verified (sslmode=verify-full) unless the
server is on this machine. Several hosts may be given: host1,host2. The address is kept in
team.json of the data folder, which only you can read; a password may also be in
~/.pgpass. Nothing is shared until 'recalld team share'; then lessons are, and with the
setting team.summaries the summaries of sessions.`,
		Example: "  recalld team join 'postgres://ann:secret@db1,db2/recalld?sslmode=verify-full'",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return answerTeam(c, a, service.TeamJoin, memory.TeamJoinRequest{URL: args[0]})
		},
	}
}

func teamShare(a *App) *cobra.Command {
	r := memory.TeamShareRequest{}
	c := &cobra.Command{
		Use: "share [PROJECT]", Short: "Share the lessons of a project with the team",
		Long: `Share the lessons of a project, by default the one of the working folder: those that are
remembered and those to come. In return you get what the other members share of it. The
team knows the project by the address of its remote; --as names one without a remote.`,
		Example: "  recalld team share\n  recalld team share notes --as acme/notes",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r.Project = strings.Join(args, "")
			return answerTeam(c, a, service.TeamShare, r)
		},
	}
	c.Flags().StringVar(&r.As, "as", "", "name of the project in the team, for a repository without a remote")
	return c
}

func teamUnshare(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "unshare [PROJECT]", Short: "Take the lessons of a project back from the team",
		Example: "  recalld team unshare",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return answerTeam(c, a, service.TeamShare, memory.TeamShareRequest{Project: strings.Join(args, ""), Stop: true})
		},
	}
}

func teamLeave(a *App) *cobra.Command {
	var r memory.TeamLeaveRequest
	c := &cobra.Command{
		Use: "leave", Short: "Take back what you shared, and leave the team",
		Long: `Take back what you shared, and leave the team. If the server does not answer or does not
let you in, you stay in the team. With --force you leave it on this machine alone, without
the server: that keeps your membership and what you shared. An exchange with the server
that has begun is awaited first, for 40 seconds at most.`,
		Example: "  recalld team leave\n  recalld team leave --force",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return answered(c, a, service.TeamLeave, r, func(w io.Writer, _ *memory.TeamState) {
				if r.Force {
					fmt.Fprintln(w, "You left the team on this machine. Its server was not asked: it keeps your membership and what you shared.\nTo take that back, the team's operator runs 'recalld team remove MEMBER --lessons URL'. What you received stays on this machine.")
					return
				}
				fmt.Fprintln(w, "You left the team. What you shared was taken back; what you received stays on this machine.")
			})
		},
	}
	c.Flags().BoolVar(&r.Force, "force", false, "leave without asking the server, which keeps what you shared")
	return c
}

func teamInit(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "init URL", Short: "Prepare a database for a team (operator)",
		Long: `Create or update the schema of a team's memory in the database that URL names, with roles
and row-level security. It is done in one transaction and can be repeated. The role needs to
own the database and may create roles (createrole); it needs no superuser.`,
		Example: "  recalld team init 'postgres://owner@db.example.org/recalld?sslmode=verify-full'",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.asOperator(c, args[0], func(t *team.Admin) error {
				did, err := t.Init(c.Context())
				if err != nil {
					return err
				}
				return a.answer(map[string]any{"did": orEmpty(did)}, func(w io.Writer) {
					if len(did) == 0 {
						fmt.Fprintln(w, "The database is prepared already.")
					}
					for _, line := range did {
						fmt.Fprintln(w, line)
					}
				})
			})
		},
	}
}

func teamAdd(a *App) *cobra.Command {
	var projects []string
	c := &cobra.Command{
		Use: "add MEMBER URL", Short: "Add a member to the team (operator)",
		Long: `Add a login role for a member and print the address to join with, once. The member may see
and share all projects, or only those of --project. For a member who exists, the projects
are added.`,
		Example: "  recalld team add ann 'postgres://owner@db.example.org/recalld?sslmode=verify-full'\n  recalld team add bob --project github.com/acme/shop 'postgres://owner@db.example.org/recalld?sslmode=verify-full'",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.asOperator(c, args[1], func(t *team.Admin) error {
				list := projects
				if len(list) == 0 {
					list = []string{"*"}
				}
				join, err := t.Add(c.Context(), args[0], list)
				if err != nil {
					return err
				}
				return a.answer(map[string]any{"member": args[0], "url": join, "projects": list}, func(w io.Writer) {
					if join == "" {
						fmt.Fprintf(w, "%s may now see and share: %s\n", render.Printable(args[0]), render.Printable(strings.Join(list, ", ")))
						return
					}
					fmt.Fprintf(w, "Give this to %s, who runs it once:\n\n  recalld team join '%s'\n", render.Printable(args[0]), render.Printable(join))
				})
			})
		},
	}
	c.Flags().StringSliceVar(&projects, "project", nil, "team project that the member may see and share, such as github.com/acme/shop; may be repeated (default: all)")
	return c
}

func teamRemove(a *App) *cobra.Command {
	var lessons bool
	c := &cobra.Command{
		Use: "remove MEMBER URL", Short: "Remove a member from the team (operator)",
		Example: "  recalld team remove ann --lessons 'postgres://owner@db.example.org/recalld?sslmode=verify-full'",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.asOperator(c, args[1], func(t *team.Admin) error {
				taken, err := t.Remove(c.Context(), args[0], lessons)
				if err != nil {
					return err
				}
				return a.answer(map[string]any{"member": args[0], "lessons": taken}, func(w io.Writer) {
					fmt.Fprintf(w, "%s is no member any more. %s taken back.\n", render.Printable(args[0]), memory.Count(int(taken), "lesson"))
				})
			})
		},
	}
	c.Flags().BoolVar(&lessons, "lessons", false, "take the member's lessons back, too")
	return c
}

// asOperator connects to the team's database as its operator.
func (a *App) asOperator(c *cobra.Command, url string, do func(*team.Admin) error) error {
	t, err := team.OpenAdmin(c.Context(), url)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close(c.Context()) }()
	return do(t)
}

// answerTeam carries out an operation and prints the state after it.
func answerTeam[Request any](c *cobra.Command, a *App, op service.Operation[Request, memory.TeamState], request Request) error {
	state, err := ask(c.Context(), a, op, request)
	if err != nil {
		return err
	}
	state.Projects = orEmpty(state.Projects)
	return a.answer(state, func(w io.Writer) { writeTeam(w, state) })
}

func writeTeam(w io.Writer, s *memory.TeamState) {
	if s.Member == "" {
		fmt.Fprintln(w, "You are in no team. To join one, run 'recalld team join URL'; its operator has the URL.")
		if s.LastError != "" {
			fmt.Fprintln(w, render.Printable(s.LastError))
		}
		return
	}
	exchange := "last exchange " + render.Time(s.SyncedAt, "never")
	if !s.Connected {
		exchange = "not connected"
		if s.LastError != "" {
			exchange += ": " + s.LastError
		}
	}
	fmt.Fprintf(w, "You are %s on %s, %s.\n", render.Printable(s.Member), render.Printable(s.Server), render.Printable(exchange))
	if len(s.Projects) == 0 {
		fmt.Fprintln(w, "No project is shared. Run 'recalld team share' in a repository to share its lessons.")
	} else {
		fmt.Fprintln(w)
		rows := [][]string{{"PROJECT", "IN THE TEAM", "SHARED", "RECEIVED", ""}}
		for _, p := range s.Projects {
			rows = append(rows, []string{render.Printable(p.ProjectName), render.Printable(p.TeamName), fmt.Sprint(p.Shared), fmt.Sprint(p.Received), render.Printable(p.Problem)})
		}
		render.Table(w, rows)
		fmt.Fprintln(w, "\nLessons are exchanged in the background, a moment after each change.")
	}
	fmt.Fprintln(w, summariesText(s))
}

// summariesText says whether session summaries are shared.
func summariesText(s *memory.TeamState) string {
	if !s.Summaries {
		return "Session summaries are not shared (setting team.summaries)."
	}
	n := 0
	for _, p := range s.Projects {
		n += p.Summaries
	}
	return fmt.Sprintf("Session summaries of shared projects are shared, too (setting team.summaries): %d now.", n)
}
