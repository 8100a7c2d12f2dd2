// Package engine runs the owners of threads: one goroutine for each thread
// that has something open. It is the thin edge around package owner: it drains
// what waits, appends one unit, and only then answers, publishes, acknowledges
// frames and carries out effects. Owners pull frames from the shims of their
// sessions; the spool is the only buffer. Owners never call owners.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
	"baton/internal/journal"
	"baton/internal/owner"
)

// Config is what a server gives its engine.
type Config struct {
	Journal   journal.Journal
	Drivers   agent.Registry
	Providers Providers
	Policy    decide.Policy
	Self      string // our own executable, which `shim` is asked of
	Sessions  string // directory of the sessions' spools, 0700
	Runtime   string // short directory of sockets, 0700
	Version   string
	HostEnv   map[string]string // the server's environment, of which agents get an allow-list
	Now       func() time.Time
	NewID     func(prefix string) string
	NewNonce  func() string
	Log       *slog.Logger
	Fenced    func() // another server has taken over: this one has to end
}

// Provider is a configured agent.
type Provider struct {
	decide.Provider
	Command []string
	Env     map[string]string
}

// Providers finds configured providers. Its methods are safe for concurrent use.
type Providers interface {
	// Get returns a provider that can be used, or an *baton.Error: unknown_provider,
	// agent_missing, driver_not_built.
	Get(name string) (Provider, error)
	// Default is the name of the provider for threads that name none.
	Default() string
}

// Engine owns all threads of a data directory. Make it with New, then Start;
// end it with Close.
type Engine struct {
	cfg      Config
	epoch    uint64
	hub      *Hub
	projects projects
	ctx      context.Context
	stop     context.CancelFunc
	all      sync.WaitGroup

	mu      sync.Mutex
	claimed uint64 // the newest epoch that this server has claimed
	actors  map[baton.ThreadID]*actor
}

// New claims an epoch in the journal: from now on a former server of the same
// data can write neither to the journal nor to an agent.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	epoch, err := cfg.Journal.ClaimEpoch(ctx)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	known, err := cfg.Journal.Projects(ctx)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	e := &Engine{cfg: cfg, epoch: epoch, hub: newHub(), ctx: run, stop: stop, claimed: epoch, actors: map[baton.ThreadID]*actor{}}
	e.projects.fill(known)
	return e, nil
}

// Hub is where committed units are published.
func (e *Engine) Hub() *Hub { return e.hub }

// Journal reads what is committed.
func (e *Engine) Journal() journal.Reader { return e.cfg.Journal }

// View reads at one point of the journal.
func (e *Engine) View(ctx context.Context, fn func(journal.Reader) error) error {
	return e.cfg.Journal.View(ctx, fn)
}

// Providers are the configured agents.
func (e *Engine) Providers() Providers { return e.cfg.Providers }

// Start reconciles: every thread of which something is open gets its owner,
// which attaches to living shims, reads the spools of dead ones and ends what
// can't go on. It returns when all are loaded, not when all is settled.
func (e *Engine) Start(ctx context.Context) error {
	e.removeEnded(ctx)
	ids, err := e.cfg.Journal.Unsettled(ctx)
	if err != nil {
		return fmt.Errorf("engine: reconcile: %w", err)
	}
	for _, id := range ids {
		if err := e.wake(ctx, id); err != nil {
			// One thread that can't be read must not keep the others from their work.
			e.cfg.Log.Error("a thread can't be loaded", "thread", id, "error", err)
		}
	}
	return nil
}

// fenced is the end of this server's right to the data: it writes nothing more,
// and whoever runs it is told to end.
func (e *Engine) fenced(why string, args ...any) {
	if e.ctx.Err() == nil {
		e.cfg.Log.Error(why+"; this one ends", args...)
	}
	e.stop()
	if e.cfg.Fenced != nil {
		e.cfg.Fenced()
	}
}

// newest says whether no other server has claimed an epoch since this one did.
func (e *Engine) newest(ctx context.Context) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	next, err := e.cfg.Journal.ClaimEpoch(ctx)
	mine := err == nil && next == e.claimed+1
	if mine {
		e.claimed = next
	}
	return mine
}

// removeEnded takes away the directories of sessions that are known to have
// ended; one that the journal does not know as ended is never touched.
func (e *Engine) removeEnded(ctx context.Context) {
	dirs, err := os.ReadDir(e.cfg.Sessions)
	if err != nil {
		return
	}
	for _, d := range dirs {
		doc, err := e.cfg.Journal.Get(ctx, journal.KindSession, d.Name())
		if err != nil {
			continue
		}
		var s struct{ Status baton.SessionStatus }
		if json.Unmarshal(doc.Body, &s) == nil && baton.SessionTransitions.Ended(s.Status) {
			if err := os.RemoveAll(filepath.Join(e.cfg.Sessions, d.Name())); err != nil {
				e.cfg.Log.Warn("a session's directory could not be removed", "dir", d.Name(), "error", err)
			}
		}
	}
}

// Close detaches from all sessions, which go on under their shims, and waits.
func (e *Engine) Close() {
	e.stop()
	e.all.Wait()
}

// Do gives a command to its thread's owner and waits for the answer. Accepted
// means durable. The same id again gives the same answer.
func (e *Engine) Do(ctx context.Context, c baton.Command) (baton.Reply, error) {
	send, ok := c.Data.(baton.CommandSend)
	insists := ok && (send.HandoffDigest != "" || send.HandoffText != "")
	again, regenerates := c.Data.(baton.CommandRegenerateHandoff)
	if insists || regenerates { // much work before the owner hears of it
		if r, err := e.answered(ctx, c); err != nil {
			return baton.Reply{}, err
		} else if r != nil {
			return *r, nil
		}
	}
	if insists {
		return e.send(ctx, c, send)
	}
	if regenerates {
		var err error
		if c.Data, err = e.regenerate(ctx, again); err != nil {
			return baton.Reply{}, err
		}
	}
	// Few commands come twice, so the others do not wait for a look: the journal
	// refuses a second receipt, and a refusal may be of what was accepted before.
	r, err := e.do(ctx, c)
	if err != nil {
		first, known := e.answered(ctx, c)
		if first != nil {
			return *first, nil
		}
		if baton.ErrorCode(known) == baton.CodeConflict {
			return r, known
		}
	}
	return r, err
}

// do gives a command to its thread's owner.
func (e *Engine) do(ctx context.Context, c baton.Command) (baton.Reply, error) {
	for {
		a, err := e.actor(ctx, c.Thread, isCreate(c))
		if err != nil {
			return baton.Reply{}, err
		}
		reply := make(chan owner.Reply, 1)
		if !a.put(entry{input: owner.Input{Command: &c}, reply: reply}) {
			continue // it was just put away
		}
		select {
		case r := <-reply:
			if errors.Is(r.Err, journal.ErrReceipt) {
				again, err := e.answered(ctx, c)
				switch {
				case again != nil:
					return *again, nil
				case err != nil:
					return baton.Reply{}, err
				}
				continue // another command of its batch was the one
			}
			return r.Reply, r.Err
		case <-ctx.Done():
			return baton.Reply{}, ctx.Err()
		case <-e.ctx.Done():
			return baton.Reply{}, baton.Errorf(baton.CodeServerUnreachable, "the server is going down").
				WithDetail("whether the command was accepted is not known").WithHint("send it again with the same command id")
		}
	}
}

func isCreate(c baton.Command) bool {
	_, ok := c.Data.(baton.CommandCreateThread)
	return ok
}

// answered looks for an earlier answer to the same command.
func (e *Engine) answered(ctx context.Context, c baton.Command) (*baton.Reply, error) {
	r, err := e.cfg.Journal.Receipt(ctx, c.ID)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case r.Hash != c.Hash():
		return nil, owner.ErrReused(c.ID)
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return &r.Reply, nil
}

// wake makes sure that a thread's owner runs.
func (e *Engine) wake(ctx context.Context, id baton.ThreadID) error {
	_, err := e.actor(ctx, id, false)
	return err
}

// actor returns the running owner of a thread, loading it where needed.
func (e *Engine) actor(ctx context.Context, id baton.ThreadID, create bool) (*actor, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if a := e.actors[id]; a != nil {
		return a, nil
	}
	if err := e.ctx.Err(); err != nil {
		return nil, baton.Errorf(baton.CodeServerUnreachable, "the server is going down").WithHint("try again")
	}
	a := newActor(e, id)
	if err := a.load(ctx, create); err != nil {
		return nil, err
	}
	e.actors[id] = a
	e.all.Add(1)
	go a.run()
	return a, nil
}

// leave takes an owner with nothing to do out of memory. It fails when
// something has come for it meanwhile.
func (e *Engine) leave(a *actor) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !a.close() {
		return false
	}
	delete(e.actors, a.id)
	return true
}

// env is what decisions may know at the given time.
func (e *Engine) env(now time.Time) decide.Env {
	return decide.Env{Now: now, NewID: e.cfg.NewID, DefaultProvider: e.cfg.Providers.Default(), Policy: e.cfg.Policy, Trusted: e.projects.trusted,
		Provider: func(name string) (decide.Provider, error) {
			p, err := e.cfg.Providers.Get(name)
			return p.Provider, err
		}}
}

func (e *Engine) ownerConfig() owner.Config {
	return owner.Config{Epoch: e.epoch, Drivers: e.cfg.Drivers, Env: e.env, ClientVersion: e.cfg.Version,
		Command: func(provider string) []string {
			p, _ := e.cfg.Providers.Get(provider)
			return p.Command
		}}
}
