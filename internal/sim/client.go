package sim

import (
	"fmt"

	"baton"
	"baton/internal/owner"
)

// client lets a person do something.
func (w *world) client() {
	w.counter++
	c := baton.Command{ID: baton.CommandID(fmt.Sprintf("cmd_%d", w.counter)), Thread: threadID, Actor: baton.ActorPerson}
	switch n := w.rng.IntN(20); {
	case w.own.State().ID == "" && !w.pendingCommand():
		c.Data = baton.CommandCreateThread{Dir: "/w"}
	case w.own.State().ID == "":
		return
	case n < 9 && !w.calm && w.counter < 400:
		provider := []string{"a", "b", ""}[w.rng.IntN(3)]
		c.Data = w.insist(baton.CommandSend{Text: fmt.Sprintf("message %d", w.counter), Provider: provider})
	case n == 9 && !w.calm && w.rng.IntN(3) == 0:
		data, ok := w.regenerate()
		if !ok {
			return
		}
		c.Data = data
	case n < 11 && !w.calm:
		c.Data = w.rarely()
	case n < 13:
		c.Data = baton.CommandResumeQueue{}
	case n < 15 && !w.calm && len(w.sent) > 0: // the same command again
		id := baton.CommandID(fmt.Sprintf("cmd_%d", w.counter-1-w.rng.IntN(5)))
		if old, ok := w.sent[id]; ok && !w.waits(id) {
			w.inbox = append(w.inbox, owner.Input{Command: &old})
		}
		return
	default:
		w.answer(c)
		return
	}
	w.sent[c.ID] = c
	w.inbox = append(w.inbox, owner.Input{Command: &c})
}

// rarely is what a person does now and then.
func (w *world) rarely() baton.CommandData {
	switch n := w.rng.IntN(24); {
	case n < 2:
		return baton.CommandArchiveThread{}
	case n < 3:
		return baton.CommandDeleteThread{}
	case n < 6:
		return w.back()
	case n < 7:
		w.trusted = !w.trusted
	case n < 10:
		if all := w.own.State().Sessions; len(all) > 0 {
			return baton.CommandStopSession{Session: all[w.rng.IntN(len(all))].ID}
		}
	}
	return baton.CommandStop{}
}

// back puts a thread back that was put away.
func (w *world) back() baton.CommandData {
	if w.own.State().Status == baton.ThreadDeleted {
		return baton.CommandUndeleteThread{}
	}
	return baton.CommandUnarchiveThread{}
}

func (w *world) pendingCommand() bool {
	for _, in := range w.inbox {
		if in.Command != nil {
			return true
		}
	}
	return false
}

// waits says whether the command is in the inbox.
func (w *world) waits(id baton.CommandID) bool {
	for _, in := range w.inbox {
		if in.Command != nil && in.Command.ID == id {
			return true
		}
	}
	return false
}

func (w *world) answer(c baton.Command) {
	requests := w.own.State().Requests
	if len(requests) == 0 {
		return
	}
	q := requests[w.rng.IntN(len(requests))]
	c.Data = baton.CommandAnswer{Request: q.ID, Decision: []baton.Decision{baton.ApproveOnce, baton.Decline}[w.rng.IntN(2)]}
	w.sent[c.ID] = c
	w.inbox = append(w.inbox, owner.Input{Command: &c})
}

// answerAll gives every pending request its answer, so that a calm world comes
// to an end.
func (w *world) answerAll() {
	w.counter++
	w.answer(baton.Command{ID: baton.CommandID(fmt.Sprintf("cmd_%d", w.counter)), Thread: threadID, Actor: baton.ActorPerson})
	var data baton.CommandData
	switch s := w.own.State(); {
	case s.Status == baton.ThreadArchived || s.Status == baton.ThreadDeleted:
		data = w.back()
	case s.QueueHeld:
		data = baton.CommandResumeQueue{}
	}
	if data != nil {
		w.counter++
		c := baton.Command{ID: baton.CommandID(fmt.Sprintf("cmd_%d", w.counter)), Thread: threadID, Actor: baton.ActorPerson, Data: data}
		w.sent[c.ID] = c
		w.inbox = append(w.inbox, owner.Input{Command: &c})
	}
}
