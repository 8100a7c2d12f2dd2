package decide

import (
	"strings"
	"testing"

	"baton"
)

func (p *play) state(want baton.ThreadState) {
	p.t.Helper()
	if p.d.S.Status != want {
		p.t.Errorf("the thread is %s, want %s", p.d.S.Status, want)
	}
}

func TestLifeOfAThread(t *testing.T) {
	type step struct {
		do   baton.CommandData
		then baton.ThreadState
		code baton.Code // of a refusal
	}
	archive, unarchive, remove, back := baton.CommandArchiveThread{}, baton.CommandUnarchiveThread{}, baton.CommandDeleteThread{}, baton.CommandUndeleteThread{}
	active, archived, deleted := baton.ThreadActive, baton.ThreadArchived, baton.ThreadDeleted
	send, rename, resume := baton.CommandSend{Text: "hi"}, baton.CommandRenameThread{Title: "new"}, baton.CommandResumeQueue{}
	for name, steps := range map[string][]step{
		"what is so already stays so": {{unarchive, active, ""}, {back, active, ""}, {archive, archived, ""}, {archive, archived, ""}, {back, archived, ""},
			{unarchive, active, ""}, {remove, deleted, ""}, {remove, deleted, ""}},
		"an archived thread":              {{archive, archived, ""}, {send, archived, baton.CodeArchived}, {resume, archived, baton.CodeArchived}, {rename, archived, ""}, {baton.CommandStop{}, archived, ""}},
		"a deleted thread":                {{remove, deleted, ""}, {send, deleted, baton.CodeDeleted}, {rename, deleted, baton.CodeDeleted}, {archive, deleted, baton.CodeDeleted}, {unarchive, deleted, baton.CodeDeleted}},
		"deleted and back":                {{remove, deleted, ""}, {back, active, ""}, {send, active, ""}},
		"archived, deleted and back":      {{archive, archived, ""}, {remove, deleted, ""}, {back, archived, ""}, {send, archived, baton.CodeArchived}, {unarchive, active, ""}, {send, active, ""}},
		"what is unknown is not let pass": {{archive, archived, ""}, {unheardOf{}, archived, baton.CodeArchived}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			for _, s := range steps {
				if s.code == "" {
					p.do(s.do)
				} else if e := p.refused(s.do, s.code); !strings.Contains(e.Hint, "thr_1") {
					t.Errorf("the hint %q names no thread", e.Hint)
				}
				p.state(s.then)
			}
		})
	}
}

type unheardOf struct{}

func (unheardOf) CommandType() string { return "thread.unheard_of" }

// What is at work keeps a thread from being put away, and says so; what is
// idle is ended with it.
func TestPutAwayAtWork(t *testing.T) {
	for name, c := range map[string]struct {
		bring   func(*play)
		refused bool
		detail  string
	}{
		"starting":  {func(p *play) { p.at("starting") }, true, "run 1 is starting"},
		"running":   {func(p *play) { p.at("running") }, true, "run 1 is running"},
		"asking":    {func(p *play) { p.at("asking") }, true, "run 1 is running"},
		"another's": {func(p *play) { p.whole("one", "a"); p.detach("a", "server"); p.send("two", "b") }, true, "run 2 is about to start"},
		"detached":  {func(p *play) { p.whole("one", "a"); p.detach("a", "server") }, true, "a still runs server"},
		"idle":      {func(p *play) { p.whole("one", "a") }, false, ""},
		"held message": {func(p *play) {
			p.running("one", "a")
			p.send("two", "a")
			p.do(baton.CommandStop{})
			p.gone(p.session("a").ID)
		}, false, ""},
	} {
		for _, put := range []baton.CommandData{baton.CommandArchiveThread{}, baton.CommandDeleteThread{}} {
			t.Run(name+"/"+put.CommandType(), func(t *testing.T) {
				p := newPlay(t)
				c.bring(p)
				runs := len(p.d.S.Runs)
				if c.refused {
					e := p.refused(put, baton.CodeConflict)
					if !strings.Contains(e.Hint, "baton stop thr_1") || e.Detail != c.detail {
						t.Errorf("got %q with the hint %q, want %q", e.Detail, e.Hint, c.detail)
					}
					p.state(baton.ThreadActive)
					return
				}
				p.do(put)
				for _, x := range p.d.S.Sessions {
					if x.Stopping == "" {
						t.Errorf("session %s goes on", x.ID)
					}
					p.gone(x.ID)
				}
				if len(p.d.S.Runs) != runs || p.d.S.ActiveRun() != nil {
					t.Errorf("%d messages wait, %d did before", len(p.d.S.Runs), runs)
				}
			})
		}
	}
}

func (p *play) detach(provider, name string) {
	p.fact(p.session(provider).ID, baton.FactDetached{Names: []string{name}})
}

func TestRename(t *testing.T) {
	p := newPlay(t)
	p.do(baton.CommandRenameThread{Title: "  what it is about \n"})
	if p.d.S.Title != "what it is about" {
		t.Errorf("the title is %q", p.d.S.Title)
	}
	events := len(p.d.Out.Events)
	p.do(baton.CommandRenameThread{Title: "what it is about"})
	if len(p.d.Out.Events) != events {
		t.Error("the same title is an event")
	}
	for _, bad := range []string{"", " \n", "two\nlines", "bell\a", "\xff", strings.Repeat("é", maxTitle+1)} {
		p.refused(baton.CommandRenameThread{Title: bad}, baton.CodeInvalid)
	}
	p.do(baton.CommandRenameThread{Title: strings.Repeat("é", maxTitle)})
}

func TestStopOneSession(t *testing.T) {
	p := newPlay(t)
	run := p.at("starting")
	x := p.session("a").ID
	p.refused(baton.CommandStopSession{Session: x}, baton.CodeConflict)
	p.ready("a")
	p.written(run)
	p.takes(run)
	if e := p.refused(baton.CommandStopSession{Session: x}, baton.CodeConflict); !strings.Contains(e.Hint, "baton stop thr_1") {
		t.Errorf("the hint is %q", e.Hint)
	}
	p.end("a", baton.TurnCompleted)
	p.detach("a", "server")
	p.refused(baton.CommandStopSession{Session: x}, baton.CodeConflict)
	p.fact(x, baton.FactDetached{})
	if got := p.do(baton.CommandStopSession{Session: x}); len(got.Stopped) != 1 || p.d.S.QueueHeld {
		t.Errorf("stopped %v, held %v", got.Stopped, p.d.S.QueueHeld)
	}
	p.do(baton.CommandStopSession{Session: x})
	p.gone(x)
	if got := p.do(baton.CommandStopSession{Session: x}); len(got.Stopped) != 0 {
		t.Errorf("a session that has ended was stopped again: %v", got.Stopped)
	}
}

// A session is opened with the trust of that moment. When it has changed before
// the next message, another session takes that one.
func TestTrust(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	first := p.session("a").ID
	if p.session("a").Trusted {
		t.Fatal("an untrusted project is trusted")
	}
	p.trusted = true
	run := p.send("two", "a").Run
	if p.d.S.Session(first).Stopping == "" {
		t.Fatal("the message goes to a session without the trust")
	}
	p.gone(first)
	x := p.session("a")
	if x.ID == first || !x.Trusted {
		t.Fatalf("got %+v", x)
	}
	open := p.d.Out.Effects[len(p.d.Out.Effects)-1].Data
	if e, ok := open.(baton.EffectOpenSession); !ok || !e.Trusted {
		t.Errorf("the session is opened by %+v", open)
	}
	p.ready("a")
	p.written(run)
	p.takes(run)
	p.end("a", baton.TurnCompleted)
	p.send("three", "a")
	if p.session("a").ID != x.ID || x.Stopping != "" {
		t.Error("a session whose trust is right was not kept")
	}
}
