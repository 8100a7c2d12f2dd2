package decide

import (
	"strings"
	"unicode/utf8"

	"baton"
)

// Command decides a person's command. A refusal comes back as an *baton.Error
// and has changed nothing.
func (d *Decider) Command(c baton.Command) (baton.Reply, error) {
	if _, create := c.Data.(baton.CommandCreateThread); !create && d.S.ID == "" {
		return baton.Reply{}, baton.Errorf(baton.CodeNotFound, "there is no thread %s", c.Thread).WithHint("baton ls shows the threads")
	}
	if err := d.admit(c.Data); err != nil {
		return baton.Reply{}, err
	}
	var reply baton.Reply
	var err error
	switch data := c.Data.(type) {
	case baton.CommandCreateThread:
		reply, err = d.createThread(c, data)
	case baton.CommandSend:
		reply, err = d.send(c, data)
	case baton.CommandStop:
		reply = d.stop()
	case baton.CommandResumeQueue:
		if d.S.QueueHeld {
			d.emit(baton.EventQueueResumed{})
		}
	case baton.CommandAnswer:
		reply, err = d.answer(c, data)
	case baton.CommandRenameThread:
		err = d.rename(data)
	case baton.CommandArchiveThread:
		err = d.archive()
	case baton.CommandUnarchiveThread:
		d.unarchive()
	case baton.CommandDeleteThread:
		err = d.delete()
	case baton.CommandUndeleteThread:
		d.undelete()
	case baton.CommandStopSession:
		reply, err = d.stopOne(data)
	case baton.CommandRegenerateHandoff:
		reply, err = d.regenerate(data)
	default:
		err = baton.Errorf(baton.CodeUnsupported, "unknown command %s", c.Data.CommandType())
	}
	if err != nil {
		return baton.Reply{}, err
	}
	d.advance()
	reply.Thread = d.S.ID
	return reply, nil
}

func (d *Decider) createThread(c baton.Command, data baton.CommandCreateThread) (baton.Reply, error) {
	if d.S.ID != "" {
		return baton.Reply{}, baton.Errorf(baton.CodeConflict, "the thread %s exists already", d.S.ID)
	}
	if data.Provider != "" {
		if _, err := d.env.Provider(data.Provider); err != nil {
			return baton.Reply{}, err
		}
	}
	d.S.ID = c.Thread
	d.emit(baton.EventThreadCreated{Title: data.Title, Project: data.Project, Workspace: newID[baton.WorkspaceID](d, baton.PrefixWorkspace), Dir: data.Dir,
		Provider: data.Provider, Settings: data.Settings})
	return baton.Reply{}, nil
}

// send gives a message a run. With no active run it starts, even on a held
// queue; otherwise it waits behind the active one, or behind those that wait for
// another agent's work to end.
func (d *Decider) send(c baton.Command, data baton.CommandSend) (baton.Reply, error) {
	if err := baton.CheckMessage(data.Text); err != nil {
		return baton.Reply{}, err
	}
	w, err := d.S.wish(d.env, data)
	if err != nil {
		return baton.Reply{}, err
	}
	waiting, behind := len(d.S.Runs) > 0, d.S.behind()
	if err := d.checkHandoff(w, data, behind); err != nil {
		return baton.Reply{}, err
	}
	run := newID[baton.RunID](d, baton.PrefixRun)
	message := newID[baton.MessageID](d, baton.PrefixMessage)
	ordinal := d.S.Ordinal + 1
	author := c.Author
	if author == "" {
		author = string(c.Actor)
	}
	if d.S.Title == "" {
		d.emit(baton.EventThreadTitled{Title: TitleOf(data.Text)})
	}
	d.emit(baton.EventRunQueued{Run: run, Ordinal: ordinal, Trigger: baton.TriggerMessage, Message: message, Provider: w.provider.Name,
		Settings: w.settings, Clean: data.CleanContext, HandoffDigest: data.HandoffDigest, HandoffText: data.HandoffText})
	d.emit(baton.EventMessageAccepted{Message: message, Run: run, Text: data.Text, Author: author})
	if data.Prepared != nil && !behind {
		d.prepare(run, *data.Prepared)
	}
	switch {
	case behind:
	case waiting: // held messages stay where they are; this one starts
		d.start(d.S.run(run))
	default:
		if d.S.QueueHeld {
			d.emit(baton.EventQueueResumed{})
		}
	}
	d.advance()
	r := d.S.run(run)
	return baton.Reply{Message: message, Run: run, Ordinal: ordinal, Queued: r != nil && r.Status == baton.RunQueued}, nil
}

// chooseProvider: the one asked for, else that of the newest message, else the
// thread's, else the default.
func (s *State) chooseProvider(env Env, asked string) string {
	if asked != "" {
		return asked
	}
	for i := len(s.Runs) - 1; i >= 0; i-- {
		if s.Runs[i].Trigger == baton.TriggerMessage {
			return s.Runs[i].Provider
		}
	}
	for _, name := range []string{s.Last.Provider, s.Provider} {
		if name != "" {
			return name
		}
	}
	return env.DefaultProvider
}

// behind says whether a message would wait in the queue.
func (s *State) behind() bool {
	return s.ActiveRun() != nil || len(s.Runs) > 0 && !s.QueueHeld
}

// TitleOf is the title that a thread without one takes from its first message.
func TitleOf(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const most = 72
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	return strings.TrimSpace(string([]rune(line)[:most-1])) + "…"
}

// stop interrupts what runs, holds the queue and ends what the agents left
// running. Nothing automatic starts the thread again until a person acts.
func (d *Decider) stop() baton.Reply {
	d.emit(baton.EventStopRequested{StopEpoch: d.S.StopEpoch + 1})
	if !d.S.QueueHeld {
		d.emit(baton.EventQueueHeld{Reason: "stop"})
	}
	var stopped []string
	for _, r := range append([]*Run(nil), d.S.Runs...) {
		if r.Active() && r.Status != baton.RunFinalizing {
			stopped = append(stopped, string(r.ID))
			d.interrupt(r)
		}
	}
	for _, x := range append([]*Session(nil), d.S.Sessions...) {
		if x.Turn == nil && x.Stopping == "" && !d.awaited(x) {
			stopped = append(stopped, string(x.ID))
			d.stopSession(x, "stopped by a person", baton.SessionStopped, d.env.Policy.StopGrace)
		}
	}
	return baton.Reply{Stopped: stopped}
}

// awaited says whether an interrupted run still waits for what the session says.
func (d *Decider) awaited(x *Session) bool {
	return find(d.S.Runs, func(r *Run) bool {
		return r.Active() && r.Attempt != nil && r.Attempt.ProviderThread == x.ProviderThread
	}) != nil
}

// interrupt asks the agent to end the run's turn. Where there is no turn to
// end, the session is stopped; what had been written is settled by evidence.
func (d *Decider) interrupt(r *Run) {
	if r.Stage != "" {
		return
	}
	var x *Session
	if r.Attempt != nil {
		x = d.S.sessionOf(r.Attempt.ProviderThread)
	}
	d.add(r, baton.ItemInterruptAsked, baton.ItemBody{})
	p, _ := d.env.Provider(r.Provider)
	switch {
	case x == nil && d.uncertain(r):
		d.emit(baton.EventInterruptRequested{Run: r.ID, Stage: "evidence", Deadline: d.env.Now})
	case x == nil:
		d.emit(baton.EventInterruptRequested{Run: r.ID, Stage: "cancel", Deadline: d.env.Now})
		d.finish(r, baton.RunCancelled, nil)
	case x.Turn != nil && x.Turn.Run == r.ID && p.Capabilities.Interrupt:
		d.emit(baton.EventInterruptRequested{Run: r.ID, Stage: "ask", Deadline: d.env.Now.Add(d.env.Policy.InterruptGrace)})
		d.intend(x.ID, baton.IntentInterrupt{TurnKey: x.Turn.Key})
	default:
		d.emit(baton.EventInterruptRequested{Run: r.ID, Stage: "stop_session", Deadline: d.env.Now.Add(d.env.Policy.InterruptGrace)})
		d.stopSession(x, "stopped by a person", baton.SessionStopped, d.env.Policy.StopGrace)
	}
}
