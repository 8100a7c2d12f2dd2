package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) newCmd() *cobra.Command {
	in := struct {
		CommandID      string `json:"command_id,omitempty"`
		Title          string `json:"title,omitempty"`
		Dir            string `json:"dir"`
		Provider       string `json:"provider,omitempty"`
		Model          string `json:"model,omitempty"`
		Effort         string `json:"effort,omitempty"`
		PermissionMode string `json:"permission_mode,omitempty"`
	}{}
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a thread and print its id; no agent is started",
		Example: `  baton new --title "Fix the login"
  thread=$(baton new --project ~/src/shop --provider codex)`,
		Args: needs(),
		RunE: a.withServer(func(ctx context.Context, c *client.Client, _ []string) error {
			if in.Dir == "" {
				in.Dir = "."
			}
			dir, err := filepath.Abs(in.Dir)
			if err != nil {
				return baton.Errorf(baton.CodeInvalid, "the directory %s can't be used", in.Dir).WithDetail("%v", err)
			}
			in.Dir = dir
			if in.CommandID == "" {
				in.CommandID = newID(baton.PrefixCommand)
			}
			var t httpapi.Thread
			if err := c.Post(ctx, "/api/threads", in, &t); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(t)
			}
			fmt.Fprintln(a.out, t.ID)
			return nil
		}),
	}
	f := cmd.Flags()
	f.StringVar(&in.Dir, "project", "", "directory to work in (default: the current one)")
	f.StringVar(&in.Title, "title", "", "title (default: the beginning of the first message)")
	f.StringVar(&in.Provider, "provider", "", "provider of its runs, unless a message names another")
	f.StringVar(&in.Model, "model", "", "model of its runs")
	f.StringVar(&in.Effort, "effort", "", "reasoning effort of its runs")
	f.StringVar(&in.PermissionMode, "permission-mode", "", "permission mode of its runs (default: the agent asks)")
	f.StringVar(&in.CommandID, "command-id", "", "id of this command: the same again makes no second thread")
	a.completeProviders(cmd)
	return cmd
}

// author is who types, where the system knows.
func (a *app) author() string {
	if u := a.env["USER"]; u != "" {
		return "person:" + u
	}
	return ""
}

// stdinOrArg returns a text given as an argument, or all of stdin for "-".
func (a *app) stdinOrArg(arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := readAtMost(a.in, baton.MaxMessage+1)
	if err != nil && !os.IsTimeout(err) {
		return "", baton.Errorf(baton.CodeInvalid, "stdin could not be read").WithDetail("%v", err)
	}
	return string(b), nil
}
