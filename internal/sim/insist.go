package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"baton"
	"baton/internal/decide"
	"baton/internal/journal"
	"baton/internal/owner"
)

// insist makes some messages insist on their handoff: on the one that is right
// now, on another one, on a text of the person's, on a clean context.
func (w *world) insist(data baton.CommandSend) baton.CommandSend {
	data.CleanContext = w.rng.IntN(15) == 0
	switch w.rng.IntN(8) {
	case 0:
		data.HandoffDigest = "sha256:another"
	case 1:
		data.HandoffText = "written by the person"
	case 2:
		p, err := decide.PreviewOf(w.own.State(), w.config().Env(w.now), data, nil)
		if err == nil && p.Build != nil {
			data.HandoffDigest = built(*p.Build).Digest
		}
	}
	return w.prepare(data)
}

// prepare makes the plan at the version that the thread has now, as the engine
// does.
func (w *world) prepare(data baton.CommandSend) baton.CommandSend {
	data.Prepared = nil
	if data.HandoffDigest == "" && data.HandoffText == "" {
		return data
	}
	p, err := decide.PreviewOf(w.own.State(), w.config().Env(w.now), data, nil)
	if err != nil || p.Behind {
		return data
	}
	data.Prepared = &baton.Prepared{Version: w.own.State().Version}
	if p.Build != nil {
		data.Prepared.Built = built(*p.Build)
	}
	return data
}

// moved brings a command back that was prepared for an older version.
func (w *world) moved(r owner.Reply) {
	if !errors.Is(r.Err, decide.ErrMoved) {
		return
	}
	c := w.sent[r.Command]
	c.Data = w.prepare(c.Data.(baton.CommandSend))
	w.sent[c.ID] = c
	w.inbox = append(w.inbox, owner.Input{Command: &c})
}

// built is the document of every plan with the same interval.
func built(data baton.EffectBuildHandoff) baton.FactHandoffBuilt {
	return baton.FactHandoffBuilt{Handoff: data.Handoff, Document: []byte("{}"), Text: "handoff " + fmt.Sprint(data.Covered),
		Digest: "sha256:" + fmt.Sprint(data.Covered)}
}

// regenerate asks for a handoff of the thread again.
func (w *world) regenerate() (baton.CommandRegenerateHandoff, bool) {
	docs, err := w.journal.List(context.Background(), journal.Query{Kind: journal.KindHandoff, Thread: threadID})
	if err != nil || len(docs) == 0 {
		return baton.CommandRegenerateHandoff{}, false
	}
	doc := docs[w.rng.IntN(len(docs))]
	data := baton.CommandRegenerateHandoff{Handoff: baton.HandoffID(doc.ID)}
	var h struct {
		Status  baton.HandoffStatus    `json:"status"`
		Covered baton.Intervals        `json:"covered"`
		To      baton.ProviderThreadID `json:"to_provider_thread_id"`
	}
	if json.Unmarshal(doc.Body, &h) == nil && h.Status == baton.HandoffUsed {
		data.Used = &baton.UsedHandoff{Covered: h.Covered, To: h.To}
	}
	return data, true
}

// insisted checks that no agent was given another handoff than the one that its
// message insists on, unless a person let it go on.
func insisted(events []baton.Event) error {
	wants, differs, draft := map[baton.RunID]string{}, map[baton.RunID]bool{}, map[baton.HandoffID]bool{}
	of := map[baton.HandoffID]baton.RunID{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case baton.EventRunQueued:
			wants[d.Run] = d.HandoffDigest
		case baton.EventHandoffCompared:
			differs[d.Run] = !d.Same
		case baton.EventQueueResumed:
			for run := range differs {
				if differs[run] {
					wants[run] = ""
				}
			}
		case baton.EventHandoffRequested:
			of[d.Handoff], draft[d.Handoff] = d.Run, d.Run == ""
		case baton.EventHandoffReady:
			want := wants[of[d.Handoff]]
			if want != "" && !draft[d.Handoff] && d.Digest != want && d.EditedFrom != want {
				return fmt.Errorf("%s insists on %s and got %s", of[d.Handoff], want, d.Digest)
			}
		}
	}
	return nil
}
