package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

const (
	demoTime  = 2 * time.Minute  // after which the demo gives up
	demoClean = 20 * time.Second // for ending what it started
)

func (a *app) demoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See one thread pass from one agent to another and back, on this machine, without any key",
		Long: `See one thread pass from one agent to another and back. Two scripted agents, alpha
and beta, take turns: they have no model and do what the marks in messages say.
All else is real: processes, protocol, journal, and the two handoffs that carry
what the other one must know. Nothing is left behind.`,
		Example: "  baton demo",
		Args:    needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), demoTime)
			defer cancel()
			return a.demo(ctx)
		},
	}
}

// demo runs in a data directory of its own, which it removes.
func (a *app) demo(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "baton-demo-")
	if err != nil {
		return baton.Errorf(baton.CodeInvalid, "there is no room for the demo").WithDetail("%v", err).WithHint("set TMPDIR to a directory that can be written")
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{a: a.inside(dir), home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	if a.json {
		d.a.out, d.a.tty = io.Discard, false
	}
	if err := d.prepare(); err != nil {
		return err
	}
	d.c, err = d.a.connect(ctx)
	if err != nil {
		return err
	}
	defer d.c.Close()
	defer func() {
		// Ctrl-C ends the demo, not what cleans up behind it.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoClean)
		defer cancel()
		if e := d.end(ctx); err == nil {
			err = e
		}
	}()
	began := time.Now()
	if err := d.play(ctx); err != nil {
		return err
	}
	result, err := d.result(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(result)
	}
	fmt.Fprintf(d.a.out, "\n%s in %.1f s. With agents of your own:\n\n", a.style(bold, "That was it"), time.Since(began).Seconds())
	fmt.Fprintln(d.a.out, "  baton new --title \"…\"\n  baton send THREAD \"…\" --provider codex --wait\n  baton coverage THREAD\n  baton handoff list THREAD")
	return nil
}

// inside is the same program with its data in a directory of its own.
func (a *app) inside(dir string) *app {
	b := *a
	b.json = false
	b.env = maps.Clone(a.env)
	b.env["BATON_HOME"] = filepath.Join(dir, "home")
	for _, k := range []string{"BATON_SCRIPT_HOME", "BATON_SCRIPT_REQUESTS", "BATON_SCRIPT_NO_RESUME"} {
		delete(b.env, k)
	}
	return &b
}

// demo is one showing.
type demo struct {
	a             *app
	home, project string
	c             *client.Client
	thread        httpapi.Thread
}

func (d *demo) prepare() error {
	for _, dir := range []string{d.home, d.project} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	config := ""
	for _, name := range []string{"alpha", "beta"} {
		config += fmt.Sprintf("[providers.%s]\ndriver = \"script\"\nenv = { BATON_SCRIPT_HOME = %q }\n\n", name, d.agentHome(name))
	}
	return os.WriteFile(filepath.Join(d.home, "config.toml"), []byte(config), 0o600)
}

func (d *demo) agentHome(name string) string { return filepath.Join(d.home, "agents", name) }

// end stops the thread, waits until its agents are gone, and ends the server.
func (d *demo) end(ctx context.Context) error {
	if d.thread.ID != "" {
		if err := d.c.Post(ctx, client.Path("threads", d.thread.ID, "stop"), d.a.plain(""), nil); err != nil {
			return err
		}
		if err := sessionsGone(ctx, d.c, d.thread.ID); err != nil {
			return err
		}
	}
	p, err := d.a.places()
	if err != nil {
		return err
	}
	_, err = client.Stop(ctx, p)
	if filepath.Dir(p.Runtime) == "/tmp" {
		_ = os.RemoveAll(p.Runtime) // the home's path was too long to hold it
	}
	return err
}

// sessionsGone waits until no agent of the thread lives.
func sessionsGone(ctx context.Context, c *client.Client, thread string) error {
	for {
		var t httpapi.Thread
		if err := c.Get(ctx, client.Path("threads", thread), nil, &t); err != nil {
			return err
		}
		sessions, err := client.All[httpapi.Session](ctx, c, client.Path("threads", t.ID, "sessions"), nil)
		if err != nil {
			return err
		}
		living := false
		for _, s := range sessions {
			living = living || s.EndedAt == nil
		}
		if !living {
			return nil
		}
		err = c.Stream(ctx, t.ID, t.Version, func(m client.Message) error {
			if m.Event != nil && m.Event.Type == (baton.EventSessionEnded{}).EventType() {
				return io.EOF
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}
