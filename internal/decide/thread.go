package decide

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"baton"
)

// maxTitle is the longest title in characters.
const maxTitle = 1000

// admit refuses what an archived or a deleted thread does not take. Whatever
// would start something is refused there; what ends something never is.
func (d *Decider) admit(data baton.CommandData) error {
	switch data.(type) {
	case baton.CommandCreateThread, baton.CommandStop, baton.CommandStopSession, baton.CommandAnswer,
		baton.CommandDeleteThread, baton.CommandUndeleteThread:
		return nil
	case baton.CommandRenameThread, baton.CommandArchiveThread, baton.CommandUnarchiveThread:
		if d.S.Status == baton.ThreadArchived {
			return nil
		}
	}
	switch d.S.Status {
	case baton.ThreadArchived:
		return baton.Errorf(baton.CodeArchived, "the thread is archived").WithDetail("nothing was changed, and no message was taken").
			WithHint("`baton unarchive %s` puts it back into the list", d.S.ID)
	case baton.ThreadDeleted:
		return baton.Errorf(baton.CodeDeleted, "the thread is deleted").WithDetail("nothing was changed, and no message was taken").
			WithHint("`baton undelete %s` brings it back", d.S.ID)
	}
	return nil
}

func (d *Decider) rename(data baton.CommandRenameThread) error {
	title := strings.TrimSpace(data.Title)
	switch {
	case title == "":
		return baton.Errorf(baton.CodeInvalid, "the title is empty").WithHint("write what the thread is about")
	case !utf8.ValidString(title) || strings.ContainsFunc(title, unicode.IsControl):
		return baton.Errorf(baton.CodeInvalid, "the title is not one line of text").WithHint("leave out line breaks and control characters")
	case utf8.RuneCountInString(title) > maxTitle:
		return baton.Errorf(baton.CodeInvalid, "the title has more than %d characters", maxTitle).WithHint("write a shorter one")
	}
	if title != d.S.Title {
		d.emit(baton.EventThreadTitled{Title: title})
	}
	return nil
}

// archive hides the thread from the list. Its idle agents are ended; messages
// in a held queue stay there.
func (d *Decider) archive() error {
	if d.S.Status == baton.ThreadArchived {
		return nil
	}
	if err := d.atWork("archived"); err != nil {
		return err
	}
	d.endIdle("the thread was archived")
	d.emit(baton.EventThreadStateChanged{State: baton.ThreadArchived})
	return nil
}

func (d *Decider) unarchive() {
	if d.S.Status == baton.ThreadArchived {
		d.emit(baton.EventThreadStateChanged{State: baton.ThreadActive})
	}
}

// delete hides the thread everywhere but by its id. Nothing of it is lost.
func (d *Decider) delete() error {
	if d.S.Status == baton.ThreadDeleted {
		return nil
	}
	if err := d.atWork("deleted"); err != nil {
		return err
	}
	d.endIdle("the thread was deleted")
	d.emit(baton.EventThreadStateChanged{State: baton.ThreadDeleted})
	return nil
}

func (d *Decider) undelete() {
	if d.S.Status == baton.ThreadDeleted {
		d.emit(baton.EventThreadStateChanged{State: d.S.Before})
	}
}

// atWork refuses to put away a thread in which something is at work or is about
// to start: a person is to see what ends before it does.
func (d *Decider) atWork(participle string) error {
	err := baton.Errorf(baton.CodeConflict, "the thread is at work and can't be %s", participle).WithHint("`baton stop %s` ends the work; then try again", d.S.ID)
	for _, r := range d.S.Runs {
		switch {
		case r.Active():
			return err.WithDetail("run %d is %s", r.Ordinal, r.Status)
		case !d.S.QueueHeld || r.Waits != "":
			return err.WithDetail("run %d is about to start", r.Ordinal)
		}
	}
	for _, x := range d.S.Sessions {
		if x.Stopping == "" && (x.Turn != nil || len(x.Detached) > 0) {
			return err.WithDetail("%s", busy(x))
		}
	}
	return nil
}

// busy says what keeps a session at work.
func busy(x *Session) string {
	if x.Turn != nil {
		return x.Provider + " has an open turn"
	}
	return x.Provider + " still runs " + strings.Join(x.Detached, ", ")
}

func (d *Decider) endIdle(reason string) {
	for _, x := range append([]*Session(nil), d.S.Sessions...) {
		if x.Stopping == "" {
			d.stopSession(x, reason, baton.SessionStopped, d.env.Policy.StopGrace)
		}
	}
}

// stopOne ends one session that nothing needs. One that has ended already is
// what was asked for.
func (d *Decider) stopOne(data baton.CommandStopSession) (baton.Reply, error) {
	x := d.S.Session(data.Session)
	if x == nil || x.Stopping != "" {
		return baton.Reply{}, nil
	}
	if !d.S.idle(x) {
		err := baton.Errorf(baton.CodeConflict, "the session is at work").WithHint("`baton stop %s` ends the work and the session", d.S.ID)
		switch {
		case x.Turn != nil || len(x.Detached) > 0:
			return baton.Reply{}, err.WithDetail("%s", busy(x))
		case d.S.Pending(x.ID):
			return baton.Reply{}, err.WithDetail("%s waits for an answer", x.Provider)
		}
		return baton.Reply{}, err.WithDetail("a run is about to use it")
	}
	d.stopSession(x, "stopped by a person", baton.SessionStopped, d.env.Policy.StopGrace)
	return baton.Reply{Stopped: []string{string(x.ID)}}, nil
}
