package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

func (a *app) watchCmd() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "watch THREAD",
		Short: "Follow a thread's work as it happens, until the run ends",
		Long: `Follow a thread's work as it happens: text, tools, approvals with the commands
that answer them. With --json it prints one event a line.

It returns when the active run and all queued ones have ended. The exit code is
0 when the last of them completed, or was cancelled before an agent had it; 1
when it failed or was interrupted, and when the server was stopped; 7 when runs
wait in a queue that is held; 130 when Ctrl-C came first. With --follow it goes
on until Ctrl-C ends it, which is 0.`,
		Example:           "  baton watch THREAD\n  baton watch THREAD --follow",
		Args:              needs("THREAD"),
		ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			var t httpapi.Thread
			if err := c.Get(ctx, client.Path("threads", args[0]), url.Values{"runs": {"50"}}, &t); err != nil {
				return err
			}
			if a.json {
				return a.watchJSON(ctx, c, t, follow)
			}
			a.threadHead(t)
			w := &watcher{a: a, c: c, view: newView(a), progress: begin(t, follow), thread: t.ID}
			return w.run(ctx, t)
		}),
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on when nothing is at work")
	return cmd
}

// watcher turns a stream into a view.
type watcher struct {
	progress
	a      *app
	c      *client.Client
	view   *view
	thread string
	asked  func(httpapi.Event) error // called for each request, may be nil
}

// run shows what the open runs hold so far, or the last run where none is
// open, and follows from there.
func (w *watcher) run(ctx context.Context, t httpapi.Thread) error {
	var show []httpapi.Run
	for _, r := range t.Runs {
		w.view.addRun(r)
		if !runEnded(r.Status) {
			show = append(show, r)
		}
	}
	idle := len(show) == 0
	if idle && len(t.Runs) > 0 {
		show = t.Runs[len(t.Runs)-1:]
	}
	for _, r := range show {
		items, err := client.All[httpapi.Item](ctx, w.c, client.Path("threads", t.ID, "items"), url.Values{"run": {r.ID}, "limit": {"1000"}})
		if err != nil {
			return err
		}
		for _, it := range items {
			if it.Open {
				it.Body.Text = "" // the stream brings it with its offsets
				w.view.open(it)
				if asks(it) {
					w.view.close(it)
				}
				continue
			}
			w.view.whole(it)
		}
	}
	if idle {
		if len(show) == 1 {
			w.view.runEnd(show[0])
		}
		if !w.follow {
			return w.exit()
		}
	}
	var err error
	if !w.over() {
		err = w.c.Stream(ctx, t.ID, t.Version, w.message)
	}
	w.view.end()
	switch {
	case w.follow && ctx.Err() != nil:
		return nil // how it ends
	case err != nil:
		for id, active := range w.open {
			if active {
				w.a.goesOn(ctx, w.view.runs[id].Ordinal, w.thread)
			}
		}
		return err
	case len(w.open) > 0:
		w.view.mark("!", yellow, fmt.Sprintf("the queue is held (%s); `baton queue %s resume` lets it go on", w.held, w.thread))
	}
	return w.exit()
}

func (w *watcher) message(m client.Message) error {
	switch {
	case m.Delta != nil:
		w.view.delta(*m.Delta)
	case m.Event != nil:
		return w.event(*m.Event)
	}
	return nil
}

func (w *watcher) event(e httpapi.Event) error {
	data, err := baton.DecodeEvent(e.Type, baton.EventShape, e.Data)
	if err != nil {
		return err
	}
	moved := w.take(data)
	switch d := data.(type) {
	case baton.EventRunQueued:
		w.view.addRun(httpapi.Run{ID: string(d.Run), Ordinal: d.Ordinal, Provider: d.Provider, Settings: d.Settings, Status: string(baton.RunQueued)})
	case baton.EventRunStarting:
		r := w.view.runs[string(d.Run)]
		r.StartedAt = &e.At
		w.view.addRun(r)
	case baton.EventItemOpened:
		it := itemOf(d)
		if _, known := w.view.items[it.ID]; known {
			return nil // read before the stream began
		}
		w.view.open(it)
		if !d.Open || asks(it) {
			w.view.close(it)
		}
	case baton.EventItemUpdated:
		if it, ok := w.view.items[string(d.Item)]; ok && it.Kind == string(baton.ItemTodo) {
			it.Body = d.Body
			w.view.line(it, "")
		}
	case baton.EventItemClosed:
		if it, ok := w.view.items[string(d.Item)]; ok && it.Open {
			it.Open = false
			it.Body = merge(it.Body, d.Body)
			it.Body.Status = d.Status
			w.view.items[it.ID] = it
			w.view.close(it)
		}
	case baton.EventRequestOpened:
		if w.asked != nil {
			return w.asked(e)
		}
		return nil
	case baton.EventRunEnded:
		w.ended(d, e)
	}
	if moved && w.over() {
		return io.EOF
	}
	return nil
}

func (w *watcher) ended(d baton.EventRunEnded, e httpapi.Event) {
	r := w.view.runs[string(d.Run)]
	r.Status, r.Error, r.EndedAt = string(d.Status), d.Err, &e.At
	if d.Usage != (baton.Usage{}) {
		r.Usage = &d.Usage
	}
	w.view.runEnd(r)
	w.view.run = ""
}

// asks says whether an item is a request to a person.
func asks(it httpapi.Item) bool {
	return it.Kind == string(baton.ItemApproval) || it.Kind == string(baton.ItemQuestion)
}

// watchJSON prints the stream's messages, one a line.
func (a *app) watchJSON(ctx context.Context, c *client.Client, t httpapi.Thread, follow bool) error {
	p := begin(t, follow)
	if p.over() {
		return p.exit()
	}
	enc := json.NewEncoder(jsonTo(a.out))
	err := c.Stream(ctx, t.ID, t.Version, func(m client.Message) error {
		var v any
		switch {
		case m.Event != nil:
			v = m.Event
		case m.Delta != nil:
			v = m.Delta
		case m.CaughtUp != nil:
			v = m.CaughtUp
		default:
			return nil
		}
		if err := enc.Encode(v); err != nil || m.Event == nil {
			return err
		}
		data, err := baton.DecodeEvent(m.Event.Type, baton.EventShape, m.Event.Data)
		if err == nil && p.take(data) && p.over() {
			return io.EOF
		}
		return nil // an event of a newer server is printed all the same
	})
	switch {
	case err == nil:
		return p.exit()
	case follow && ctx.Err() != nil:
		return nil
	}
	return err
}

func itemOf(d baton.EventItemOpened) httpapi.Item {
	return httpapi.Item{ID: string(d.Item), RunID: string(d.Run), NodeID: string(d.Node), Kind: string(d.Kind), Position: d.Position, Open: d.Open, Body: d.Body}
}

// merge puts the fields that are set over those that were there, as the read
// model does.
func merge(old, set baton.ItemBody) baton.ItemBody {
	b, err := json.Marshal(set)
	if err != nil {
		return set
	}
	_ = json.Unmarshal(b, &old)
	return old
}
