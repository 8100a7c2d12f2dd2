package engine

import (
	"context"
	"encoding/json"
	"errors"

	"baton"
	"baton/internal/decide"
	"baton/internal/journal"
	"baton/internal/owner"
)

// Preview is what the next agent would be told, at one version of the thread.
type Preview struct {
	decide.Preview
	baton.Prepared
}

// Preview plans a message and makes its document without changing anything. It
// reads the journal, not the owner: any number may be asked for at any time.
func (e *Engine) Preview(ctx context.Context, thread baton.ThreadID, data baton.CommandSend) (Preview, error) {
	var out Preview
	err := e.cfg.Journal.View(ctx, func(r journal.Reader) error {
		l, err := read(ctx, r, thread)
		if err != nil {
			return err
		}
		state, err := owner.Fold(thread, l)
		if err != nil {
			return err
		}
		env := e.env(e.cfg.Now())
		out.Version = l.Version
		for {
			if out.Preview, err = decide.PreviewOf(state, env, data, out.Squeezed); err != nil || out.Build == nil {
				return err
			}
			if out.Built, err = document(ctx, r, thread, *out.Build); err != nil {
				return err
			}
			// A conversation that it does not fit into is left for another, once each.
			into := out.Plan.ProviderThread
			if !out.Built.Squeezed || into == "" {
				return nil
			}
			out.Squeezed = append(out.Squeezed, into)
		}
	})
	return out, err
}

// tries is how often a thread may move on while a message's handoff is made.
const tries = 5

// send gives a message that insists on its handoff to the owner, with the
// handoff as the thread has it at that very version.
func (e *Engine) send(ctx context.Context, c baton.Command, data baton.CommandSend) (baton.Reply, error) {
	for try := 0; ; try++ {
		p, err := e.Preview(ctx, c.Thread, data)
		if err != nil {
			return baton.Reply{}, err
		}
		data.Prepared = nil
		if !p.Behind {
			data.Prepared = &p.Prepared
		}
		c.Data = data
		reply, err := e.do(ctx, c)
		if !errors.Is(err, decide.ErrMoved) {
			return reply, err
		}
		if try == tries {
			return reply, baton.Errorf(baton.CodeConflict, "the thread changes too quickly to insist on a handoff").
				WithDetail("the message was not sent and nothing was changed").WithHint("send it again when the thread is idle, or without the digest")
		}
	}
}

// regenerate adds what is known of a handoff that was used.
func (e *Engine) regenerate(ctx context.Context, data baton.CommandRegenerateHandoff) (baton.CommandRegenerateHandoff, error) {
	doc, err := e.cfg.Journal.Get(ctx, journal.KindHandoff, string(data.Handoff))
	if err != nil {
		return data, err
	}
	var h struct {
		Status  baton.HandoffStatus    `json:"status"`
		Covered baton.Intervals        `json:"covered"`
		To      baton.ProviderThreadID `json:"to_provider_thread_id"`
	}
	if err := json.Unmarshal(doc.Body, &h); err != nil {
		return data, err
	}
	if h.Status == baton.HandoffUsed {
		data.Used = &baton.UsedHandoff{Covered: h.Covered, To: h.To}
	}
	return data, nil
}
