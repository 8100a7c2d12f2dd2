package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"baton"
	"baton/internal/decide"
	"baton/internal/failpoint"
	"baton/internal/journal"
	"baton/internal/owner"
)

// A batch takes all waiting commands and outcomes, and at most this many frames.
const batchFrames = 256

// How many frames that changed nothing but their driver's state may be ahead of
// the journal, and how many bytes of them. A crash has them read again.
const (
	keepFrames = 64
	keepBytes  = 256 << 10
)

// The pauses between attempts to store a unit that the journal does not take.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// actor runs one thread's owner.
type actor struct {
	e   *Engine
	id  baton.ThreadID
	own *owner.Owner

	links  map[baton.SessionID]*link
	held   []baton.Effect             // until what happened while we were away is taken in
	kept   []owner.Frame              // taken into the owner's state, and not into the journal
	behind map[baton.SessionID]uint64 // sessions that are read up to the frame seen at attach
	lease  map[baton.SessionID]time.Duration
	asked  map[baton.EffectID]bool // effects at work
	wait   time.Duration           // before a unit that was not stored is tried again
	told   string                  // why it was not, as it stands in the log

	mu     sync.Mutex
	queue  []entry
	signal chan struct{}
	closed bool
}

// entry is something that waits for the owner.
type entry struct {
	input  owner.Input
	reply  chan<- owner.Reply // of a command
	frames []owner.Frame      // instead of input: a batch of one session
	taken  chan<- uint64      // told, when the frames are taken, which is the last that the spool may forget
	attach *attached          // instead of input
}

func newActor(e *Engine, id baton.ThreadID) *actor {
	return &actor{e: e, id: id, links: map[baton.SessionID]*link{}, behind: map[baton.SessionID]uint64{},
		lease: map[baton.SessionID]time.Duration{}, asked: map[baton.EffectID]bool{}, signal: make(chan struct{}, 1)}
}

// put adds an entry; false when the actor has been put away.
func (a *actor) put(en entry) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.queue = append(a.queue, en)
	select {
	case a.signal <- struct{}{}:
	default:
	}
	return true
}

// close puts the actor away if nothing waits.
func (a *actor) close() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) > 0 {
		return false
	}
	a.closed = true
	return true
}

func (a *actor) drain() []entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.queue
	a.queue = nil
	return q
}

// load reads the thread and takes up what is open: sessions are attached to,
// effects that have not ended are asked for again.
func (a *actor) load(ctx context.Context, create bool) error {
	l, err := read(ctx, a.e.cfg.Journal, a.id)
	if errors.Is(err, journal.ErrNotFound) {
		if !create {
			return baton.Errorf(baton.CodeNotFound, "there is no thread %s", a.id).WithHint("`baton ls` shows the threads")
		}
		a.own = owner.New(a.e.ownerConfig(), a.id)
		return nil
	}
	if err != nil {
		return err
	}
	texts, err := openTexts(ctx, a.e.cfg.Journal, l.Chunks)
	if err != nil {
		return err
	}
	if a.own, err = owner.Load(a.e.ownerConfig(), a.id, l, texts); err != nil {
		return err
	}
	opening := map[baton.SessionID]bool{}
	for _, eff := range l.Effects {
		if _, ok := eff.Data.(baton.EffectOpenSession); ok {
			opening[eff.Session] = true
		}
	}
	for _, x := range a.own.State().Sessions {
		if !opening[x.ID] {
			a.behind[x.ID] = unknown
			a.link(x.ID).attach(a.own.Frame(x.ID))
		}
	}
	for _, eff := range l.Effects {
		a.perform(eff)
	}
	return nil
}

// read loads a thread. A snapshot of another shape than this version's is of no
// use: then all events are folded again.
func read(ctx context.Context, r journal.Reader, id baton.ThreadID) (journal.Loaded, error) {
	l, err := r.Load(ctx, id)
	if err != nil || l.Snapshot == nil || l.Snapshot.Shape == decide.SnapshotShape {
		return l, err
	}
	l.Snapshot, l.Tail = nil, nil
	for after := uint64(0); after < l.Version; {
		page, err := r.Events(ctx, id, after, 1000)
		if err != nil {
			return l, err
		}
		if len(page) == 0 {
			return l, fmt.Errorf("thread %s: its events end at %d, before version %d", id, after, l.Version)
		}
		l.Tail = append(l.Tail, page...)
		after = page[len(page)-1].Version
	}
	return l, nil
}

// openTexts reads head and tail of what has streamed into open items.
func openTexts(ctx context.Context, j journal.Reader, lengths []journal.ChunkLength) (map[baton.ItemID]*decide.Text, error) {
	texts := map[baton.ItemID]*decide.Text{}
	for _, c := range lengths {
		text, err := openStream(ctx, j, c.Item, false, c.Text)
		if err != nil {
			return nil, err
		}
		output, err := openStream(ctx, j, c.Item, true, c.Output)
		if err != nil {
			return nil, err
		}
		texts[c.Item] = &decide.Text{Text: text, Output: output}
	}
	return texts, nil
}

func openStream(ctx context.Context, j journal.Reader, item baton.ItemID, output bool, length int64) (decide.Stream, error) {
	if length == 0 {
		return decide.Stream{}, nil
	}
	part := func(from int64) (string, int64, error) {
		chunks, err := j.Chunks(ctx, item, output, from, decide.Keep+1)
		if err != nil || len(chunks) == 0 {
			return "", from, err
		}
		s := ""
		for _, c := range chunks {
			s += c.Text
		}
		return s, chunks[0].Offset, nil
	}
	head, _, err := part(0)
	if err != nil {
		return decide.Stream{}, err
	}
	head = decide.Head(head)
	from := max(int64(len(head)), length-decide.Keep)
	tail, at, err := part(from)
	if err != nil {
		return decide.Stream{}, err
	}
	if skip := from - at; skip > 0 && skip <= int64(len(tail)) {
		tail = tail[skip:]
	}
	return decide.Restore(length, head, tail), nil
}

// run is the owner's goroutine.
func (a *actor) run() {
	defer a.e.all.Done()
	defer a.detach()
	var waiting []entry
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due := a.arm(timer)
		if len(waiting) == 0 {
			if !due {
				if a.idle() && a.e.leave(a) {
					return
				}
				select {
				case <-a.signal:
				case <-timer.C:
					due = true
				case <-a.e.ctx.Done():
					return
				}
			}
		}
		waiting = append(waiting, a.drain()...)
		if due {
			waiting = append(waiting, entry{input: owner.Input{Deadline: true}})
		}
		waiting = a.takeAttached(waiting)
		waiting = a.step(waiting)
		if a.e.ctx.Err() != nil {
			return
		}
	}
}

// idle says that the thread needs no owner in memory.
func (a *actor) idle() bool {
	return len(a.links) == 0 && len(a.held) == 0 && a.own.State().Settled()
}

// arm sets the timer to the next deadline; true when one is due already. While
// a session is being read after an absence, deadlines wait.
func (a *actor) arm(timer *time.Timer) bool {
	timer.Stop()
	next := a.own.NextDeadline(a.e.cfg.Policy)
	if next.IsZero() || len(a.behind) > 0 {
		return false
	}
	wait := next.Sub(a.e.cfg.Now())
	if wait <= 0 {
		return true
	}
	timer.Reset(wait)
	return false
}

// step handles one batch and returns what is left.
func (a *actor) step(waiting []entry) []entry {
	batch, inputs := pick(waiting)
	if len(inputs) == 0 {
		return waiting[:0]
	}
	now := a.e.cfg.Now()
	res := a.own.Handle(now, inputs)
	if res.Marks && a.keep(inputs[:res.Handled]) {
		a.own.Keep()
		left := a.finish(waiting, batch, res)
		a.afterCommit()
		return left
	}
	appended := a.e.hub.begin()
	if err := a.append(res.Unit); err != nil {
		if errors.Is(err, journal.ErrUnknown) {
			a.e.hub.lost(appended)
		} else {
			a.e.hub.end(appended, nil)
		}
		a.own.Discard()
		return a.refused(err, waiting)
	}
	a.own.Commit()
	a.wait, a.kept, a.told = 0, nil, ""
	for _, id := range res.Unit.Done {
		delete(a.asked, id)
	}
	failpoint.Hit("engine.committed")
	a.e.hub.end(appended, &res.Unit)
	left := a.finish(waiting, batch, res)
	failpoint.Hit("engine.answered")
	for _, eff := range res.Unit.Effects {
		a.perform(eff)
	}
	a.afterCommit()
	return left
}

// keep says whether frames may be taken without a unit, and remembers them: most
// of an agent's frames tell nothing that a thread has to know, and none of them
// is worth the disk's time.
func (a *actor) keep(inputs []owner.Input) bool {
	kept, size := a.kept, 0
	for _, in := range inputs {
		if in.Frame == nil {
			continue
		}
		if in.Frame.Kind == owner.FrameOther { // the shim may say that its spool is full
			return false
		}
		kept = append(kept, *in.Frame)
	}
	for _, f := range kept {
		size += len(f.Data)
	}
	if len(kept) > keepFrames || size > keepBytes {
		return false
	}
	a.kept = kept
	return true
}

// pick takes commands, outcomes and deadlines first, then frames up to the
// batch's size. It returns for each input the index of its entry.
func pick(waiting []entry) (index []int, inputs []owner.Input) {
	for i, en := range waiting {
		if en.frames == nil && en.attach == nil {
			index, inputs = append(index, i), append(inputs, en.input)
		}
	}
	room := batchFrames
	for i, en := range waiting {
		if len(en.frames) == 0 || len(en.frames) > room && room < batchFrames {
			continue
		}
		room -= len(en.frames)
		for j := range en.frames {
			index, inputs = append(index, i), append(inputs, owner.Input{Frame: &en.frames[j]})
		}
	}
	return index, inputs
}

// finish answers the entries whose inputs are all handled and returns the rest.
// A batch of frames that is handled in part stays: its first frames are known
// by their numbers and not taken twice.
func (a *actor) finish(waiting []entry, index []int, res owner.Result) []entry {
	replies := map[baton.CommandID]owner.Reply{}
	for _, r := range res.Replies {
		replies[r.Command] = r
	}
	open := map[int]bool{}
	for _, i := range index[res.Handled:] {
		open[i] = true
	}
	picked := map[int]bool{}
	for _, i := range index {
		picked[i] = true
	}
	var left []entry
	for i, en := range waiting {
		if open[i] || !picked[i] {
			left = append(left, en)
			continue
		}
		if en.reply != nil {
			en.reply <- replies[en.input.Command.ID]
		}
		if en.taken != nil {
			en.taken <- a.durable(en.frames)
		}
	}
	return left
}

// durable returns the last frame of a session that its spool may forget. frames
// have just been taken; of a session that has ended all may go.
func (a *actor) durable(frames []owner.Frame) uint64 {
	last := frames[len(frames)-1]
	if a.own.State().Session(last.Session) == nil {
		return last.Seq
	}
	return a.own.Durable(last.Session)
}

// append stores a unit; one without content is not written.
func (a *actor) append(u journal.Unit) error {
	if len(u.Events) == 0 && len(u.Chunks) == 0 && len(u.Effects) == 0 && len(u.Done) == 0 && len(u.Sessions) == 0 && len(u.Receipts) == 0 {
		return nil
	}
	failpoint.Hit("engine.before_append")
	_, err := a.e.cfg.Journal.Append(a.e.ctx, u)
	return err
}

// refused deals with a unit that was not stored. Commands are told; frames and
// outcomes wait and are decided again.
func (a *actor) refused(err error, waiting []entry) []entry {
	if a.e.ctx.Err() != nil {
		return waiting
	}
	answer := refusal(err)
	if a.told != err.Error() { // once, however often it is tried again
		a.told = err.Error()
		level := slog.LevelWarn
		if errors.As(err, new(*baton.Error)) { // the store knows what is wrong with it
			level = slog.LevelError
		}
		a.e.cfg.Log.Log(a.e.ctx, level, "a unit was not stored; what agents do waits and is tried again", "thread", a.id, "error", err, "hint", answer.Hint)
	}
	var left []entry
	for _, en := range waiting {
		switch {
		case en.reply == nil:
			left = append(left, en)
		case errors.Is(err, journal.ErrReceipt):
			en.reply <- owner.Reply{Err: journal.ErrReceipt} // each looks whether it is the one
		default:
			en.reply <- owner.Reply{Err: answer}
		}
	}
	if errors.Is(err, journal.ErrReceipt) {
		return left
	}
	if errors.Is(err, journal.ErrVersion) || errors.Is(err, journal.ErrUnknown) {
		left = a.reload(left)
	}
	if errors.Is(err, journal.ErrFenced) {
		a.e.fenced("another server has taken over this data", "thread", a.id)
		return left
	}
	a.pause()
	return left
}

// reload reads the owner's state again, after an append whose fate is unknown.
// What was kept is known to the former owner alone and comes again, first.
func (a *actor) reload(waiting []entry) []entry {
	l, err := read(a.e.ctx, a.e.cfg.Journal, a.id)
	if err != nil {
		return waiting
	}
	texts, err := openTexts(a.e.ctx, a.e.cfg.Journal, l.Chunks)
	if err != nil {
		return waiting
	}
	own, err := owner.Load(a.e.ownerConfig(), a.id, l, texts)
	if err != nil {
		return waiting
	}
	a.own = own
	var again []entry
	for _, f := range a.kept {
		again = append(again, entry{frames: []owner.Frame{f}})
	}
	a.kept = nil
	for _, eff := range l.Effects {
		a.perform(eff)
	}
	return append(again, waiting...)
}

// pause waits before a failed append is tried again, longer each time; the shims
// hold the frames meanwhile.
func (a *actor) pause() {
	a.wait = min(max(2*a.wait, firstPause), lastPause)
	pause(a.e.ctx, a.wait)
}
