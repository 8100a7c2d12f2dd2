package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/failpoint"
	"baton/internal/journal"
	"baton/internal/owner"
	"baton/internal/shim"
)

// perform carries an effect out. It is called on the owner's goroutine after
// the unit that asked for it is durable, and again after a restart for what had
// not ended: each kind looks first or can be repeated. Writes of a session go in
// order; stopping overtakes them.
func (a *actor) perform(eff baton.Effect) {
	_, stop := eff.Data.(baton.EffectStopSession)
	if len(a.behind) > 0 && !stop {
		a.held = append(a.held, eff)
		return
	}
	if a.asked[eff.ID] {
		return // it is at work; after a reload its outcome is still to come
	}
	a.asked[eff.ID] = true
	switch data := eff.Data.(type) {
	case baton.EffectWrite:
		if a.own.State().Session(eff.Session) != nil {
			a.link(eff.Session).enqueue(eff)
		}
	case baton.EffectOpenSession:
		if a.own.State().Session(eff.Session) != nil {
			l := a.link(eff.Session)
			spec := owner.SpecOf(a.e.ownerConfig(), a.own.State().Session(eff.Session))
			a.spawn(eff, func(ctx context.Context) baton.Fact { return l.open(ctx, spec, data.Provider) })
		}
	case baton.EffectStopSession:
		if a.own.State().Session(eff.Session) != nil {
			l := a.link(eff.Session)
			a.spawn(eff, func(ctx context.Context) baton.Fact { l.stop(ctx, data.Grace); return nil })
		}
	case baton.EffectBuildHandoff:
		a.spawn(eff, func(ctx context.Context) baton.Fact { return a.e.buildHandoff(ctx, a.id, data) })
	case baton.EffectFindEvidence:
		a.spawn(eff, func(context.Context) baton.Fact { return a.e.findEvidence(data) })
	}
}

// spawn runs an effect beside the owner and brings its outcome back. A fault in
// it ends the effect, not the process.
func (a *actor) spawn(eff baton.Effect, run func(context.Context) baton.Fact) {
	a.e.all.Add(1)
	go func() {
		defer a.e.all.Done()
		var fact baton.Fact
		func() {
			defer func() {
				if p := recover(); p != nil {
					a.e.cfg.Log.Error("an effect failed", "kind", eff.Data.EffectType(), "fault", p, "stack", string(debug.Stack()))
					fact = faultOf(eff, p)
				}
			}()
			fact = run(a.e.ctx)
		}()
		if a.e.ctx.Err() == nil {
			a.put(entry{input: owner.Input{Outcome: &owner.Outcome{Effect: eff.ID, Session: eff.Session, Fact: fact}}})
		}
	}()
}

func faultOf(eff baton.Effect, fault any) baton.Fact {
	err := baton.Errorf(baton.CodeInternal, "something went wrong inside Baton").WithDetail("%v", fault).WithHint("please report it")
	switch data := eff.Data.(type) {
	case baton.EffectOpenSession:
		return baton.FactStartFailed{Err: err}
	case baton.EffectBuildHandoff:
		return baton.FactHandoffFailed{Handoff: data.Handoff, Err: err}
	case baton.EffectFindEvidence:
		return baton.FactEvidence{Delivery: data.Delivery, Verdict: baton.VerdictUnknown, Detail: err.Error()}
	}
	return nil
}

// open starts the session's shim with its agent, or finds the one that was
// started before the server went away.
func (l *link) open(ctx context.Context, spec agent.Spec, provider string) baton.Fact {
	cfg := l.a.e.cfg
	if _, err := os.Stat(filepath.Join(l.dir, "session.json")); err == nil {
		l.attach(0)
		return nil
	}
	fail := func(err *baton.Error) baton.Fact {
		l.once.Do(func() { close(l.over) })
		return baton.FactStartFailed{Err: err}
	}
	p, err := cfg.Providers.Get(provider)
	if err != nil {
		return fail(baton.AsError(err))
	}
	driver, err := cfg.Drivers.Get(p.Driver)
	if err != nil {
		return fail(baton.AsError(err))
	}
	if real, err := filepath.EvalSymlinks(spec.Dir); err == nil && real != spec.Dir {
		return fail(baton.Errorf(baton.CodeWorkspaceMissing, "the directory %s of this thread is another one now", spec.Dir).
			WithDetail("it leads to %s; the message is kept in the thread, and no agent was started", real).
			WithHint("put the directory back, or make a new thread in the other one"))
	}
	if info, err := os.Stat(spec.Dir); err != nil || !info.IsDir() {
		return fail(baton.Errorf(baton.CodeWorkspaceMissing, "the directory %s of this thread is not there", spec.Dir).
			WithDetail("the message is kept in the thread; no agent was started").WithHint("put the directory back, then send the message again"))
	}
	if spec.NativeID != "" {
		if n := l.a.e.foreign(ctx, driver, p, spec); n > 0 {
			l.once.Do(func() { close(l.over) }) // no agent is started
			messages := "messages"
			if n == 1 {
				messages = "message"
			}
			return baton.FactForeignTurns{Detail: fmt.Sprintf("%d %s that somebody else gave", n, messages)}
		}
	}
	launch := driver.Launch(spec)
	h, err := shim.Launch(ctx, cfg.Self, l.dir, shim.Spec{SessionID: string(l.session), Nonce: cfg.NewNonce(), Argv: launch.Argv,
		Env: environment(cfg.HostEnv, launch, p.Env), Dir: spec.Dir, Socket: l.socket(), Lease: shortLease})
	if err != nil {
		return fail(baton.Errorf(baton.CodeStartFailed, "%s could not be started", provider).WithDetail("%v; the message is kept in the thread", err).
			WithHint("look at `baton doctor`, then send the message again"))
	}
	failpoint.Hit("engine.session_launched")
	if b, err := json.Marshal(h); err == nil {
		_ = os.WriteFile(filepath.Join(l.dir, "handle.json"), b, 0o600)
	}
	l.attach(0)
	return nil
}

// socket is short, since a socket's path may have little more than 100 bytes.
func (l *link) socket() string {
	id := strings.ReplaceAll(baton.UUID(l.session), "-", "")
	return filepath.Join(l.a.e.cfg.Runtime, id[max(0, len(id)-20):]+".sock")
}

// hostPass are the variables of the server's environment that every agent gets.
var hostPass = []string{"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "TERM", "SSH_AUTH_SOCK"}

var hostPassPrefix = []string{"LC_", "XDG_"}

// environment builds an agent's environment from nothing.
func environment(host map[string]string, launch agent.Launch, provider map[string]string) []string {
	env := map[string]string{}
	for k, v := range host {
		if slices.Contains(hostPass, k) || slices.Contains(launch.Pass, k) ||
			slices.ContainsFunc(hostPassPrefix, func(p string) bool { return strings.HasPrefix(k, p) }) {
			env[k] = v
		}
	}
	maps.Copy(env, launch.Env)
	maps.Copy(env, provider)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}

// enqueue adds a write behind those that the shim has not accepted yet.
func (l *link) enqueue(eff baton.Effect) {
	l.mu.Lock()
	l.writes = append(l.writes, eff)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// give hands the writes to the shim in order. What was not acknowledged when a
// connection ended is given again: the shim drops ids that it knows.
func (l *link) give() {
	ctx := l.a.e.ctx
	for {
		eff, conn, wait := l.next()
		if conn == nil || eff == nil {
			select {
			case <-wait:
			case <-l.more:
			case <-l.over:
				return
			case <-ctx.Done():
				return
			}
			continue
		}
		err := conn.Write(ctx, string(eff.ID), eff.Data.(baton.EffectWrite).Data)
		switch shim.ErrorCode(err) {
		case shim.CodeBusy, shim.CodeSpoolFull:
			pause(ctx, firstPause)
		case shim.CodeClosed, shim.CodeEvicted:
			select {
			case <-conn.Done():
				pause(ctx, time.Millisecond)
			case <-ctx.Done():
			}
		default: // accepted, or never to be
			l.mu.Lock()
			l.writes = l.writes[1:]
			l.mu.Unlock()
		}
		if ctx.Err() != nil {
			return
		}
	}
}

func (l *link) next() (*baton.Effect, *shim.Conn, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.writes) == 0 || l.conn == nil {
		wait := l.ready
		if l.conn != nil {
			wait = nil
		}
		return nil, nil, wait
	}
	return &l.writes[0], l.conn, nil
}

// stop ends the agent's tree through its shim. Where there never was one, the
// session is told to be over.
func (l *link) stop(ctx context.Context, grace time.Duration) {
	last := time.NewTimer(2*grace + shimGrace)
	defer last.Stop()
	for {
		l.mu.Lock()
		conn := l.conn
		var ready <-chan struct{} = l.ready
		l.mu.Unlock()
		if conn != nil {
			asking, cancel := context.WithTimeout(ctx, helloTime)
			err := conn.Stop(asking, shim.Grace{Stdin: grace, Term: grace})
			cancel()
			ready = nil // what is left is its end
			if err != nil && shim.ErrorCode(err) != shim.CodeAgentGone {
				pause(ctx, time.Millisecond)
				ready = conn.Done()
			}
		}
		select {
		case <-ready:
		case <-l.over:
			l.neverThere()
			return
		case <-last.C:
			h, known := l.handle()
			l.a.e.cfg.Log.Error("a shim did not end its agent in time and is killed", "session", l.session)
			l.killShim(h, known)
			return
		case <-ctx.Done():
			return
		}
	}
}

// shimGrace is what a shim may need beyond the steps of its ladder.
const shimGrace = 15 * time.Second

// neverThere ends a session that has no shim. One that has ended meanwhile
// takes no notice.
func (l *link) neverThere() {
	_ = os.RemoveAll(l.dir)
	l.a.put(entry{frames: []owner.Frame{{Session: l.session, Time: l.a.e.cfg.Now(), Kind: owner.FrameExit,
		Exit: &owner.Exit{Detail: "it was never started"}}}})
}

// findEvidence looks up an uncertain delivery where the agent keeps its
// conversations.
func (e *Engine) findEvidence(data baton.EffectFindEvidence) baton.Fact {
	out := baton.FactEvidence{Delivery: data.Delivery, Verdict: baton.VerdictUnknown}
	p, err := e.cfg.Providers.Get(data.Provider)
	if err != nil {
		out.Detail = "the provider can't be asked: " + err.Error()
		return out
	}
	driver, err := e.cfg.Drivers.Get(p.Driver)
	if err != nil {
		out.Detail = err.Error()
		return out
	}
	finder, ok := driver.(agent.EvidenceFinder)
	if !ok {
		out.Detail = "this agent keeps no record that could be looked at"
		return out
	}
	env := e.environ(driver.Launch(agent.Spec{Command: p.Command, Dir: data.Dir, NewID: data.NativeID}), p)
	out.Verdict, out.Detail = finder.FindEvidence(agent.EvidenceQuery{Delivery: data.Delivery, NativeID: data.NativeID, Dir: data.Dir, Env: env, New: data.New})
	if out.Detail == "" {
		out.Detail = fmt.Sprintf("the agent's own record says %s", out.Verdict)
	}
	return out
}

// foreign counts what somebody else has said in a conversation that is to be
// resumed. Where that can't be told the conversation is resumed all the same: it
// was ours when it was left, and one that is gone or broken says so itself.
func (e *Engine) foreign(ctx context.Context, driver agent.Driver, p Provider, spec agent.Spec) int {
	finder, ok := driver.(agent.ForeignFinder)
	if !ok {
		return 0
	}
	var failed error
	n, err := finder.FindForeign(agent.ForeignQuery{NativeID: spec.NativeID, Dir: spec.Dir, Env: e.environ(driver.Launch(spec), p),
		Ours: func(id baton.DeliveryID) bool {
			_, err := e.cfg.Journal.Get(ctx, journal.KindDelivery, string(id))
			if err != nil && !errors.Is(err, journal.ErrNotFound) {
				failed = err
			}
			return err == nil
		}})
	if err = cmp.Or(failed, err); err != nil {
		e.cfg.Log.Warn("whether somebody else has gone on with a conversation can't be told; it is resumed", "provider", p.Name, "conversation", spec.NativeID, "error", err)
		return 0
	}
	return n
}

// environ is the environment of a provider's agent, by name.
func (e *Engine) environ(launch agent.Launch, p Provider) map[string]string {
	env := map[string]string{}
	for _, kv := range environment(e.cfg.HostEnv, launch, p.Env) {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	return env
}
