package main

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/httpapi"
)

func (a *app) projectCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "project", Short: "Directories that threads work in, and whether their agent configuration is loaded",
		Long: `A project is a directory that threads work in. Its own agent configuration (MCP
servers, settings, hooks) may run commands as soon as an agent starts there, so it
is not loaded until you trust the project. Trust is for exactly that directory.`,
		Example: "  baton project list\n  baton project trust ~/src/parser",
		RunE: func(*cobra.Command, []string) error {
			return baton.Errorf(baton.CodeInvalid, "`baton project` needs `list`, `trust` or `untrust`").WithHint("baton project --help")
		}}
	yes := false
	trust := &cobra.Command{
		Use: "trust [DIR]", Short: "Let agents load the project's own configuration", Args: cobra.MaximumNArgs(1),
		Long: `Let agents load the project's own configuration, from their next session on. What
that is now is shown before; what is put there later is loaded too, also what an
agent writes there. Without DIR the current directory is meant.`,
		Example: "  baton project trust\n  baton project trust ~/src/parser --yes",
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			p, err := a.project(ctx, c, args)
			if err != nil {
				return err
			}
			if !yes {
				if err := a.confirmTrust(p); err != nil {
					return err
				}
			}
			return a.trust(ctx, c, p.Dir, true)
		}),
	}
	trust.Flags().BoolVar(&yes, "yes", false, "do not ask")
	untrust := &cobra.Command{
		Use: "untrust [DIR]", Short: "Keep agents from the project's own configuration again", Args: cobra.MaximumNArgs(1),
		Example: "  baton project untrust ~/src/parser",
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			dir, err := projectDir(args)
			if err != nil {
				return err
			}
			return a.trust(ctx, c, dir, false)
		}),
	}
	cmd.AddCommand(&cobra.Command{Use: "list", Short: "List the directories that threads work in", Args: needs(), Example: "  baton project list",
		RunE: a.withServer(func(ctx context.Context, c *client.Client, _ []string) error {
			list, err := client.All[httpapi.Project](ctx, c, "/api/projects", nil)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.out, "no projects yet; `baton new` makes a thread in a directory")
				return nil
			}
			rows := [][]string{{"TRUSTED", "THREADS", "DIRECTORY"}}
			for _, p := range list {
				rows = append(rows, []string{map[bool]string{true: "yes", false: "no"}[p.Trusted], fmt.Sprint(p.Threads), p.Dir})
			}
			a.table(rows, nil)
			return nil
		}),
	}, trust, untrust)
	return cmd
}

func projectDir(args []string) (string, error) {
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", baton.Errorf(baton.CodeInvalid, "the directory %q can't be used", dir).WithDetail("%v", err)
	}
	return abs, nil
}

func (a *app) project(ctx context.Context, c *client.Client, args []string) (p httpapi.Project, err error) {
	dir, err := projectDir(args)
	if err != nil {
		return p, err
	}
	return p, c.Get(ctx, "/api/project", url.Values{"dir": {dir}}, &p)
}

// confirmTrust shows what would be loaded and asks.
func (a *app) confirmTrust(p httpapi.Project) error {
	fmt.Fprintf(a.err, "In %s agents would load:\n", p.Dir)
	a.loads(p.Loads)
	if !a.tty {
		return baton.Errorf(baton.CodeInvalid, "nobody can be asked here").WithDetail("the project is not trusted; nothing was changed").
			WithHint("look at what would be loaded, then say --yes")
	}
	fmt.Fprint(a.err, "Trust it? [y/N] ")
	line, _ := bufio.NewReader(a.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return baton.Errorf(baton.CodeForbidden, "the project is not trusted").WithDetail("nothing was changed").WithHint("answer y to trust it")
	}
	return nil
}

func (a *app) loads(files []config.ProjectFile) {
	if len(files) == 0 {
		fmt.Fprintln(a.err, "  nothing now; what is put there later")
	}
	for _, f := range files {
		fmt.Fprintf(a.err, "  %s  (%s: %s)\n", printable(f.Path), f.Agent, f.What)
		for _, r := range f.Runs {
			fmt.Fprintln(a.err, "    would run: "+cut(printable(r), 200))
		}
	}
}

func (a *app) trust(ctx context.Context, c *client.Client, dir string, trusted bool) error {
	var p httpapi.Project
	if err := c.Post(ctx, "/api/project/trust", map[string]any{"dir": dir, "trusted": trusted, "author": a.author()}, &p); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(p)
	}
	if trusted {
		fmt.Fprintf(a.out, "%s is trusted: agents load its own configuration from their next session on\n", p.Dir)
	} else {
		fmt.Fprintf(a.out, "%s is not trusted: agents do not load its own configuration\n", p.Dir)
	}
	if p.Sessions != nil {
		for _, id := range p.Sessions.AtWork {
			fmt.Fprintf(a.out, "  session %s keeps what it has loaded until its work ends\n", id)
		}
	}
	return nil
}
