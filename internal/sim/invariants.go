package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"baton"
	"baton/internal/decide"
	"baton/internal/journal"
)

// check holds after every committed unit.
func (w *world) check() error {
	s := w.own.State()
	running, turns := 0, 0
	for _, r := range s.Runs {
		if s.Status != baton.ThreadActive && r.Active() && r.Trigger == baton.TriggerMessage {
			return fmt.Errorf("run %d is %s in a thread that is %s", r.Ordinal, r.Status, s.Status)
		}
		if r.Attempt != nil && r.Attempt.Status == baton.AttemptRunning {
			running++
		}
		if r.Status == baton.RunFinalizing && !slices.ContainsFunc(s.Deliveries, func(v *decide.Delivery) bool {
			return v.Run == r.ID && v.Status == baton.DeliveryUncertain
		}) {
			return fmt.Errorf("run %d was left inside the barrier", r.Ordinal)
		}
	}
	if running > 1 {
		return fmt.Errorf("%d attempts run at once", running)
	}
	for _, it := range s.Items {
		if it.Session != "" && s.Session(it.Session) == nil {
			return fmt.Errorf("item %s is open in a session that is gone", it.ID)
		}
		if !it.Detached && it.Run != "" && !slices.ContainsFunc(s.Runs, func(r *decide.Run) bool { return r.ID == it.Run }) {
			return fmt.Errorf("item %s outlives its run", it.ID)
		}
	}
	for i, q := range s.Requests {
		if slices.ContainsFunc(s.Requests[:i], func(o *decide.Request) bool { return o.Session == q.Session && o.Key == q.Key }) {
			return fmt.Errorf("request %q waits twice", q.Key)
		}
	}
	live := map[baton.ProviderThreadID]int{}
	for _, x := range s.Sessions {
		if x.Stopping == "" {
			live[x.ProviderThread]++
		}
		if x.Turn != nil && x.Stopping == "" {
			turns++
		}
		if live[x.ProviderThread] > 1 {
			return fmt.Errorf("two sessions serve %s", x.ProviderThread)
		}
	}
	if turns > 1 {
		return fmt.Errorf("%d agents work at once", turns)
	}
	for _, q := range s.Requests {
		if s.Session(q.Session) == nil {
			return fmt.Errorf("request %s waits for a session that is gone", q.ID)
		}
	}
	for text, n := range w.received {
		if n > 1 && !w.excused(text) {
			return fmt.Errorf("%q was given to agents %d times", text, n)
		}
	}
	return nil
}

// excused: a message may be given again only where its first conversation was
// given up for it visibly, since it could not be proved to have arrived or the
// agent's disk had lost it.
func (w *world) excused(text string) bool {
	docs, err := w.journal.List(context.Background(), journal.Query{Kind: journal.KindProviderThread, Thread: threadID})
	if err != nil {
		return false
	}
	for _, d := range docs {
		var p struct {
			Divergent bool   `json:"divergent"`
			Status    string `json:"status"`
		}
		if json.Unmarshal(d.Body, &p) == nil && (p.Divergent || p.Status == "error") {
			return true
		}
	}
	return w.forgot
}

// finish brings the world to rest and checks what must hold in the end.
func (w *world) finish() error {
	w.calm = true
	for i := 0; ; i++ {
		if i > 60000 {
			return fmt.Errorf("the thread does not come to rest: %s", w.open())
		}
		if w.own != nil && i%50 == 0 && w.own.State().ID != "" && len(w.inbox) == 0 && len(w.effects) == 0 {
			if s := w.own.State(); len(s.Runs) == 0 && len(s.Requests) == 0 && len(s.Deliveries) == 0 {
				break
			}
		}
		if i%200 == 199 {
			w.now = w.now.Add(decide.DefaultPolicy().ReadyWithin)
		}
		if err := w.step(); err != nil {
			return err
		}
	}
	return w.truth()
}

func (w *world) open() string {
	if w.own == nil {
		return "no server"
	}
	b, _ := json.MarshalIndent(w.own.State(), "", " ")
	shims := ""
	for _, x := range w.own.State().Sessions {
		if s := w.shims[x.ID]; s != nil {
			shims += fmt.Sprintf("\n%s: native %s, turn %q, spooled %d, taken %d", x.ID, s.agent.native, s.agent.turn, len(s.spool), w.own.Frame(x.ID))
			shims += fmt.Sprintf(", alive %v, exited %v, stop %v, input %d", s.alive, s.exited, s.stop, len(s.input))
		}
	}
	return fmt.Sprintf("%s\ninbox %d, effects %d%s", b, len(w.inbox), len(w.effects), shims)
}

// truth compares what the journal holds with what was acknowledged, what the
// events say and what the agents' disks hold.
func (w *world) truth() error {
	ctx := context.Background()
	events, err := w.journal.Events(ctx, threadID, 0, 1<<20)
	if err != nil {
		return err
	}
	if err := insisted(events); err != nil {
		return err
	}
	s := w.own.State()
	drafts := 0 // wait for the next run
	for _, h := range s.Handoffs {
		if h.Draft && h.Run == "" {
			drafts++
		}
	}
	if len(s.Handoffs) != drafts || len(s.Transfers) != drafts {
		return fmt.Errorf("at rest, a handoff or a transfer is open: %s", w.open())
	}
	folded := &decide.State{}
	fates := map[baton.DeliveryID]baton.DeliveryStatus{}
	ended := map[baton.RunID]int{}
	messages := map[string]bool{}
	for i, e := range events {
		if e.Version != uint64(i+1) {
			return fmt.Errorf("event %d has version %d", i+1, e.Version)
		}
		if err := folded.Apply(e); err != nil {
			return err
		}
		switch d := e.Data.(type) {
		case baton.EventRunEnded:
			ended[d.Run]++
		case baton.EventDeliveryOffered:
			fates[d.Delivery] = baton.DeliveryOffered
		case baton.EventDeliveryChanged:
			fates[d.Delivery] = d.Status
		case baton.EventMessageAccepted:
			if messages[d.Text] {
				return fmt.Errorf("%q was accepted twice", d.Text)
			}
			messages[d.Text] = true
		}
	}
	folded.Texts = w.own.State().Texts
	if !reflect.DeepEqual(jsonOf(folded), jsonOf(w.own.State())) {
		return fmt.Errorf("the fold of the events differs from the live state:\n%s\n%s", jsonOf(folded), jsonOf(w.own.State()))
	}
	for text, reply := range w.accepted {
		if !messages[text] {
			return fmt.Errorf("%q was acknowledged and is gone", text)
		}
		if ended[reply.Run] != 1 {
			return fmt.Errorf("the run of %q ended %d times", text, ended[reply.Run])
		}
	}
	for run, n := range ended {
		if n != 1 {
			return fmt.Errorf("%s ended %d times", run, n)
		}
	}
	for id, fate := range fates {
		if fate != baton.DeliveryAccepted && !baton.DeliveryTransitions.Ended(fate) {
			return fmt.Errorf("at rest, delivery %s is %s", id, fate)
		}
	}
	for native, records := range w.conversations {
		seen := map[baton.DeliveryID]bool{}
		for _, r := range records {
			if seen[r.Delivery] {
				return fmt.Errorf("%s was written twice into %s", r.Delivery, native)
			}
			seen[r.Delivery] = true
		}
	}
	return w.rebuilt(ctx, events)
}

// rebuilt: read models made anew from the events equal the live ones.
func (w *world) rebuilt(ctx context.Context, events []baton.Event) error {
	docs, err := journal.Fold(events)
	if err != nil {
		return err
	}
	for _, doc := range docs {
		live, err := w.journal.Get(ctx, doc.Kind, doc.ID)
		if err != nil {
			return fmt.Errorf("%s %s: %w", doc.Kind, doc.ID, err)
		}
		var a, b any
		_, _ = json.Unmarshal(doc.Body, &a), json.Unmarshal(live.Body, &b)
		if !reflect.DeepEqual(a, b) {
			return fmt.Errorf("%s %s differs: rebuilt %s, live %s", doc.Kind, doc.ID, doc.Body, live.Body)
		}
	}
	return nil
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
