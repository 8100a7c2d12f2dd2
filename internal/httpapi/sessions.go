package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"baton"
	"baton/internal/journal"
	"baton/internal/shim"
)

// LivingSession is an agent process that has not ended.
type LivingSession struct {
	Session
	ThreadTitle string     `json:"thread_title,omitempty"`
	Dir         string     `json:"dir"`
	Trusted     bool       `json:"trusted" doc:"it was opened with the project's own configuration"`
	Activity    string     `json:"activity" enum:"starting,running,waiting,detached,idle,stopping" doc:"derived: what goes on in it now"`
	IdleSince   *time.Time `json:"idle_since,omitempty" doc:"since when nothing has needed it"`
	PID         int        `json:"pid,omitempty" doc:"of the agent; absent where it can't be told"`
	Processes   int        `json:"processes,omitempty" doc:"the agent and all that it has started"`
	Memory      int64      `json:"memory,omitempty" doc:"their resident bytes, where the system tells; shared pages count for each"`
}

// sessionDoc is a stored session.
type sessionDoc struct {
	LivingSession
	ReadyAt  *time.Time      `json:"ready_at"`
	Stopping json.RawMessage `json:"stopping"`
}

func (s *Server) sessions() {
	route(s, http.MethodGet, "/api/sessions", "list-living-sessions", "The agent processes that live", func(ctx context.Context, r journal.Reader, _ *struct{}) (Page[LivingSession], error) {
		all, err := livingSessions(ctx, r)
		if err != nil {
			return Page[LivingSession]{}, err
		}
		handles := make([]shim.Handle, len(all))
		for i, x := range all {
			b, err := os.ReadFile(filepath.Join(s.cfg.Places.Sessions, x.ID, "handle.json"))
			if err == nil {
				_ = json.Unmarshal(b, &handles[i])
			}
		}
		for i, u := range shim.Use(handles) {
			all[i].PID, all[i].Processes, all[i].Memory = u.PID, u.Processes, u.Memory
		}
		return Page[LivingSession]{Items: all}, nil
	})
	type stopIn struct {
		Session string      `path:"session"`
		Body    CommandBody `required:"false"`
	}
	command(s, "/api/sessions/{session}/stop", "stop-session", "End an idle agent process; one at work is refused", func(ctx context.Context, in *stopIn) (baton.Reply, error) {
		r := s.cfg.Engine.Journal()
		id, err := resolve(ctx, r, journal.KindSession, in.Session)
		if err != nil {
			return baton.Reply{}, err
		}
		thread, err := r.ThreadOf(ctx, journal.KindSession, id)
		if err != nil {
			return baton.Reply{}, err
		}
		return s.do(ctx, in.Body, thread, baton.CommandStopSession{Session: baton.SessionID(id)})
	})
}

// newest is how many of a thread's sessions and provider turns are looked at.
const newest = 50

// livingSessions reads the sessions that have not ended, by
// thread. Only threads of which something is open have some.
func livingSessions(ctx context.Context, r journal.Reader) ([]LivingSession, error) {
	threads, err := r.Unsettled(ctx)
	if err != nil {
		return nil, err
	}
	out := []LivingSession{}
	for _, id := range threads {
		// What lives is among the newest.
		docs, err := r.List(ctx, journal.Query{Kind: journal.KindSession, Thread: id, Desc: true, Limit: newest})
		if err != nil {
			return nil, err
		}
		var t *threadDoc
		for _, doc := range docs {
			d, err := decode[sessionDoc](doc)
			if err != nil {
				return nil, err
			}
			if baton.SessionTransitions.Ended(baton.SessionStatus(d.Status)) {
				continue
			}
			if t == nil {
				v, err := get[threadDoc](ctx, r, journal.KindThread, string(id))
				if err != nil {
					return nil, err
				}
				t = &v
			}
			if err := d.look(ctx, r, t); err != nil {
				return nil, err
			}
			out = append(out, d.LivingSession)
		}
	}
	return out, nil
}

// working says whether a run has left the queue.
func (d threadDoc) working() bool {
	for _, r := range d.OpenRuns {
		if r.Status != string(baton.RunQueued) {
			return true
		}
	}
	return false
}

// look adds what follows from the session's newest turn and its requests.
func (d *sessionDoc) look(ctx context.Context, r journal.Reader, t *threadDoc) error {
	d.ThreadTitle = t.Title
	turns, err := r.List(ctx, journal.Query{Kind: journal.KindTurn, Thread: baton.ThreadID(d.ThreadID), Desc: true, Limit: newest})
	if err != nil {
		return err
	}
	idle, open := d.ReadyAt, false
	for _, doc := range turns {
		turn, err := decode[struct {
			SessionID string     `json:"session_id"`
			Status    string     `json:"status"`
			EndedAt   *time.Time `json:"ended_at"`
		}](doc)
		if err != nil {
			return err
		}
		if turn.SessionID == d.ID {
			open, idle = turn.Status == string(baton.TurnRunning), turn.EndedAt
			break
		}
	}
	switch {
	case len(d.Stopping) > 0 && string(d.Stopping) != "null":
		d.Activity = "stopping"
	case d.Status == string(baton.SessionStarting):
		d.Activity = "starting"
	case open && len(t.Pending) > 0:
		d.Activity = "waiting"
	case open || t.working(): // a thread has one session at a time
		d.Activity = "running"
	case len(d.Detached) > 0:
		d.Activity = "detached"
	default:
		d.Activity, d.IdleSince = "idle", idle
	}
	return nil
}
