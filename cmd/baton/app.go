package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/config"
)

// app is what all commands share.
type app struct {
	in       io.Reader
	out, err io.Writer
	self     string // our own executable
	env      map[string]string
	uid      int
	tty      bool // out is a terminal
	json     bool // --json
}

// The exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitNotFound  = 3
	exitConflict  = 4
	exitRefused   = 5
	exitTimedOut  = 6
	exitWaits     = 7
	exitInterrupt = 130 // the command line itself was interrupted
)

// exitWith ends the command with a code and says nothing more.
type exitWith int

func (e exitWith) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// exitCode follows from the code's class, never from the text.
func exitCode(code baton.Code) int {
	switch code.Status() {
	case 413, 422:
		return exitUsage
	case 404:
		return exitNotFound
	case 409:
		return exitConflict
	case 401, 403, 410, 501:
		return exitRefused
	case 504:
		return exitTimedOut
	}
	return exitFailed
}

// execute runs one command line and returns the exit status.
func (a *app) execute(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteContextC(ctx)
	var code exitWith
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupt
	}
	var e *baton.Error
	if !errors.As(err, &e) {
		// Commands return errors of ours; what is left is about the command line.
		e = baton.Errorf(baton.CodeInvalid, "%s", strings.TrimSpace(firstLine(err.Error()))).WithHint("`%s --help` shows what there is", cmd.CommandPath())
	}
	a.json = a.json || slices.Contains(args, "--json")
	a.report(e)
	return exitCode(e.Code)
}

// report tells an error on stderr.
func (a *app) report(e *baton.Error) {
	if a.json {
		_ = json.NewEncoder(jsonTo(a.err)).Encode(struct {
			*baton.Error
			Status int `json:"status"`
		}{e, e.Code.Status()})
		return
	}
	title := e.Title
	if title == "" {
		title = strings.ReplaceAll(string(e.Code), "_", " ")
	}
	columns := 1 << 20
	if isTerminal(raw(a.err)) {
		columns = a.width()
	}
	fmt.Fprintln(a.err, hang(wrap(fmt.Sprintf("error: %s (%s)", oneLine(title), e.Code), columns, "  ")))
	if e.Detail != "" {
		fmt.Fprintln(a.err, wrap(e.Detail, columns, "  "))
	}
	if e.Hint != "" {
		fmt.Fprintln(a.err, hang(wrap("hint: "+e.Hint, columns, "  ")))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "baton",
		Short: "One conversation that any coding agent can carry",
		Long: `One conversation that any coding agent can carry.

A thread is the conversation that you see. Each run of it may be done by another
agent; what the next one must know passes with it as a document that you can
read. A server does the work and is started when it is needed.`,
		Example: `  baton new --title "Fix the login"
  baton send THREAD "find out why the login fails" --provider codex --wait
  baton send THREAD "now fix it" --provider claude
  baton watch THREAD`,
		Version:       buildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON, lists as bare arrays, errors too")
	root.AddCommand(a.serveCmd(), a.openCmd(), a.newCmd(), a.lsCmd(), a.showCmd(), a.sendCmd(), a.watchCmd(), a.stopCmd(), a.queueCmd(),
		a.requestsCmd(), a.approveCmd(), a.declineCmd(), a.answerCmd(), a.coverageCmd(), a.transfersCmd(), a.handoffCmd(),
		a.searchCmd(), a.exportCmd(), a.backupCmd(), a.projectCmd(), a.sessionsCmd(), a.manCmd(),
		a.providersCmd(), a.doctorCmd(), a.demoCmd(), a.debugCmd(), a.shimCmd(), a.agentCmd())
	root.AddCommand(a.lifeCmds()...)
	return root
}

// needs is cobra.ExactArgs with an error of ours.
func needs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 {
			e := baton.Errorf(baton.CodeInvalid, "`%s` takes no arguments", cmd.CommandPath())
			if cmd.Flags().Lookup("title") != nil {
				return e.WithHint("a title is given with --title \"…\"")
			}
			return e.WithHint("`%s --help` shows examples", cmd.CommandPath())
		}
		if cmd.Name() == "send" && len(args) > len(names) {
			return baton.Errorf(baton.CodeInvalid, "the text must be one argument").WithHint("put it in quotes: baton send THREAD \"…\"")
		}
		return baton.Errorf(baton.CodeInvalid, "`%s` takes %s", cmd.CommandPath(), strings.Join(names, " ")).
			WithHint("`%s --help` shows examples", cmd.CommandPath())
	}
}

// needsSome wants one argument or more.
func needsSome(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return baton.Errorf(baton.CodeInvalid, "`%s` takes %s", cmd.CommandPath(), name).WithHint("`%s --help` shows examples", cmd.CommandPath())
	}
}

// places says where things lie.
func (a *app) places() (config.Places, error) { return config.Find(a.env, a.uid) }

// connect returns a client of the server, which is started where none runs.
func (a *app) connect(ctx context.Context) (*client.Client, error) {
	p, err := a.places()
	if err != nil {
		return nil, err
	}
	env := a.environment()
	if a.env["BATON_HOME"] != "" {
		env = append(env, "BATON_HOME="+p.Data) // absolute: the server runs in the root directory
	}
	return client.Connect(ctx, client.Start{Places: p, Self: a.self, Args: []string{"serve", "--ready-fd"}, Env: env})
}

// environment is the command line's own, but for BATON_HOME.
func (a *app) environment() []string {
	env := []string{}
	for k, v := range a.env {
		if k != "BATON_HOME" {
			env = append(env, k+"="+v)
		}
	}
	slices.Sort(env)
	return env
}

// withServer runs fn with a client.
func (a *app) withServer(fn func(ctx context.Context, c *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := a.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer c.Close()
		return fn(cmd.Context(), c, args)
	}
}

// printJSON prints one value.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(jsonTo(a.out))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
