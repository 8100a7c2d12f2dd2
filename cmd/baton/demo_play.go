package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

// demoPause is how long a run stands before the next one begins.
const demoPause = 800 * time.Millisecond

// demoMessages are the nine runs: who does it, and what it is told. The marks
// in double brackets are what the scripted agents do.
var demoMessages = []struct{ provider, text string }{
	{"alpha", `Write a program that greets.
[[think A shell script is enough for that.]]
[[write greet.sh\necho "hello, $1"\n]]
[[say greet.sh is there. It greets whatever it is given.]]`},
	{"alpha", `Try it out.
[[run sh greet.sh world]]
[[say It says "hello, world".]]`},
	{"alpha", `What is left to do?
[[todo greet+|say goodbye|try both]]
[[say Saying goodbye is left, then trying both.]]`},
	{"alpha", `May it greet the moon, too?
[[ask sh greet.sh moon]]
[[say It greets the moon as well.]]`},
	{"alpha", `Decision: the program stays a plain shell script.
[[say Understood: a plain shell script, nothing else.]]`},
	{"beta", `Now the goodbye.
[[edit greet.sh\necho "hello, $1"\n=>\necho "hello, $1"\necho "goodbye, $1"]]
[[run sh greet.sh world]]
[[say It says hello and goodbye now.]]`},
	{"beta", `The release is called "copper kettle". Keep that in mind.
[[say Noted: copper kettle.]]`},
	{"beta", `Try both, and mark them as done.
[[run sh greet.sh moon]]
[[todo greet+|say goodbye+|try both+]]
[[say Both work. Everything on the list is done.]]`},
	{"alpha", `You are back. Is anything left?
[[say Nothing is. I know what beta did from the handoff, and the rest by myself.]]`},
}

// play does the nine runs and shows each as it happens.
func (d *demo) play(ctx context.Context) error {
	a := d.a
	fmt.Fprintf(a.out, "%s\n\n", a.style(bold, "One thread, nine runs, two agents"))
	fmt.Fprintln(a.out, wrap("alpha and beta are scripted agents without a model: they do what the marks in a message say. What passes between them is real. "+
		"Runs 1–5 are alpha's, 6–8 beta's, 9 is alpha's again.", a.width(), ""))
	in := struct {
		Title string `json:"title"`
		Dir   string `json:"dir"`
	}{"A program that greets", d.project}
	if err := d.c.Post(ctx, "/api/threads", in, &d.thread); err != nil {
		return err
	}
	for _, m := range demoMessages {
		if err := d.run(ctx, m.provider, m.text); err != nil {
			return err
		}
		if err := d.breathe(ctx); err != nil {
			return err
		}
	}
	return nil
}

// breathe lets a person in front of a terminal read along.
func (d *demo) breathe(ctx context.Context) error {
	if !d.a.tty {
		return nil
	}
	select {
	case <-time.After(demoPause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run sends one message and follows its run to the end.
func (d *demo) run(ctx context.Context, provider, text string) error {
	var reply baton.Reply
	in := sendRequest{CommandID: newID(baton.PrefixCommand), Text: text, Provider: provider}
	if err := d.c.Post(ctx, client.Path("threads", d.thread.ID, "messages"), in, &reply); err != nil {
		return err
	}
	var t httpapi.Thread
	if err := d.c.Get(ctx, client.Path("threads", d.thread.ID), url.Values{"runs": {"1"}}, &t); err != nil {
		return err
	}
	w := &watcher{a: d.a, c: d.c, view: newView(d.a), progress: begin(t, false), thread: t.ID}
	w.asked = func(e httpapi.Event) error { return d.approve(ctx, e) }
	for _, q := range t.PendingRequests { // asked before we looked
		if err := d.approveID(ctx, q.ID); err != nil {
			return err
		}
	}
	if err := w.run(ctx, t); err != nil {
		return err
	}
	return d.showMoved(ctx, string(reply.Run))
}

// approve is the person who sits in front of the demo.
func (d *demo) approve(ctx context.Context, e httpapi.Event) error {
	var q baton.EventRequestOpened
	if err := json.Unmarshal(e.Data, &q); err != nil {
		return err
	}
	return d.approveID(ctx, string(q.Request))
}

func (d *demo) approveID(ctx context.Context, id string) error {
	in := answerRequest{plainRequest: d.a.plain(""), Decision: baton.ApproveOnce}
	err := d.c.Post(ctx, client.Path("requests", id, "answer"), in, nil)
	if c := baton.ErrorCode(err); c == baton.CodeConflict || c == baton.CodeNotResumable {
		return nil // answered by the time that the stream told of it
	}
	return err
}

// showMoved tells how context came to the run's agent, where it had to.
func (d *demo) showMoved(ctx context.Context, run string) error {
	transfers, err := client.All[httpapi.Transfer](ctx, d.c, client.Path("threads", d.thread.ID, "transfers"), nil)
	if err != nil {
		return err
	}
	for _, t := range transfers {
		if t.Target.RunID != run || t.HandoffID == "" || t.Resolution == nil {
			continue
		}
		var h httpapi.Handoff
		if err := d.c.Get(ctx, client.Path("handoffs", t.HandoffID), nil, &h); err != nil {
			return err
		}
		a := d.a
		fmt.Fprintln(a.out)
		a.fields("  ", part{text: "⇄", color: violet}, part{text: fmt.Sprintf("%s of runs %s,", h.Strategy, covered(h)), color: bold},
			part{text: fmt.Sprintf("%d tokens by estimate", h.EstimatedTokens)})
		for _, r := range t.Resolution.Reasons {
			a.showReason(a.out, "    ", r)
		}
	}
	return nil
}

// handoffs returns the thread's handoffs that were used, with their texts.
func (d *demo) handoffs(ctx context.Context) ([]httpapi.Handoff, error) {
	list, err := client.All[httpapi.Handoff](ctx, d.c, client.Path("threads", d.thread.ID, "handoffs"), nil)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(h httpapi.Handoff) bool { return h.Status != string(baton.HandoffUsed) })
	for i := range list {
		if err := d.c.Get(ctx, client.Path("handoffs", list[i].ID), nil, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
