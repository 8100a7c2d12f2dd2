package script

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/internal/directive"
	"baton/internal/jsonl"
)

// job is one turn: a prompt, or with id nil one that the agent begins itself.
type job struct {
	id      json.RawMessage
	s       *session
	blocks  []Entry
	ctx     context.Context
	cancel  context.CancelFunc
	stopped func() // background: told just before the turn begins
}

// turn is a job that runs.
type turn struct {
	*job
	a      *server
	number int
	pieces int // calls and messages so far, for ids
	delay  time.Duration
	stop   string
	usage  map[string]any
}

var errCancelled = errors.New("cancelled")

// prompt queues a turn for a client's prompt.
func (a *server) prompt(msg jsonl.Message) {
	var p struct {
		SessionID string `json:"sessionId"`
		Prompt    []struct {
			Type string `json:"type"`
			Text string `json:"text"`
			Meta struct {
				Baton struct {
					Delivery string `json:"delivery"`
					Role     string `json:"role"`
				} `json:"baton"`
			} `json:"_meta"`
		} `json:"prompt"`
	}
	if err := json.Unmarshal(msg.Params, &p); err != nil {
		a.reply(msg.ID, nil, rpcErr{Code: -32602, Message: "Invalid params: " + err.Error()})
		return
	}
	a.mu.Lock()
	s := a.sessions[p.SessionID]
	a.mu.Unlock()
	var blocks []Entry
	for _, b := range p.Prompt {
		if b.Type == "text" && strings.TrimSpace(b.Text) != "" {
			blocks = append(blocks, Entry{Type: "user", Role: b.Meta.Baton.Role, Text: b.Text, Delivery: b.Meta.Baton.Delivery})
		}
	}
	if s == nil || len(blocks) == 0 {
		a.reply(msg.ID, nil, rpcErr{Code: -32602, Message: "Invalid params: no such session, or nothing said: " + p.SessionID})
		return
	}
	// Without a role the last block is the person's, those before it are context.
	for i := range blocks {
		if blocks[i].Role == "" {
			blocks[i].Role = "handoff"
			if i == len(blocks)-1 {
				blocks[i].Role = "message"
			}
		}
	}
	a.enqueue(&job{id: slices.Clone(msg.ID), s: s, blocks: blocks})
}

func (a *server) enqueue(j *job) {
	j.ctx, j.cancel = context.WithCancel(context.Background())
	a.mu.Lock()
	a.jobs = append(a.jobs, j)
	a.mu.Unlock()
	a.queue <- j
}

// cancel ends what runs and waits in a conversation.
func (a *server) cancel(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, j := range a.jobs {
		if j.s.id == id && !a.deaf {
			j.cancel()
		}
	}
}

// work runs the turns one after the other.
func (a *server) work() {
	for j := range a.queue {
		if j.id != nil {
			a.runPrompt(j)
		} else {
			a.runOwn(j)
		}
		j.cancel()
		a.mu.Lock()
		a.jobs = slices.DeleteFunc(a.jobs, func(o *job) bool { return o == j })
		a.mu.Unlock()
	}
}

func (a *server) runPrompt(j *job) {
	t, err := a.begin(j)
	if err != nil {
		a.reply(j.id, nil, err)
		return
	}
	err = t.obey(j.blocks[len(j.blocks)-1].Text)
	switch {
	case j.ctx.Err() != nil || errors.Is(err, errCancelled):
		t.stop = "cancelled"
	case err != nil:
		a.reply(j.id, nil, err)
		return
	}
	result := map[string]any{"stopReason": t.stop}
	if t.usage != nil {
		result["usage"] = t.usage
	}
	a.reply(j.id, result, nil)
}

// begin stores the turn's input and says so. An empty user_message_chunk is
// the first sign that the agent has it.
func (a *server) begin(j *job) (*turn, error) {
	t := &turn{job: j, a: a, stop: "end_turn"}
	first := ""
	if marks := directive.Parse(j.blocks[len(j.blocks)-1].Text); len(marks) > 0 {
		first = marks[0].Verb
	}
	if first == "crash-unseen" {
		crash()
	}
	j.s.turns++
	t.number = j.s.turns
	for i := range j.blocks {
		j.blocks[i].Turn = t.number
	}
	if err := j.s.append(j.blocks...); err != nil {
		return t, err
	}
	if err := a.logRequest(j.s, t.number); err != nil {
		return t, err
	}
	if first == "crash-unacked" {
		crash()
	}
	if j.id != nil {
		t.update(map[string]any{"sessionUpdate": "user_message_chunk", "content": text("")})
	}
	return t, nil
}

// obey carries out the marks of the person's message.
func (t *turn) obey(message string) error {
	marks := directive.Parse(message)
	if len(marks) == 0 {
		n := t.s.messages()
		return t.say(fmt.Sprintf("I know %d message%s of this conversation.", n, map[bool]string{false: "s"}[n == 1]))
	}
	for _, d := range marks {
		verb, ok := verbs[d.Verb]
		if !ok {
			return fmt.Errorf("there is no mark [[%s]]", d.Verb)
		}
		if t.ctx.Err() != nil {
			return errCancelled
		}
		if err := verb(t, d.Arg); err != nil {
			return err
		}
	}
	return nil
}

var verbs map[string]func(t *turn, arg string) error

func init() { // the verbs use the table through obey
	verbs = map[string]func(t *turn, arg string) error{
		"say": (*turn).say, "think": (*turn).think, "plan": (*turn).plan, "todo": (*turn).todo,
		"recall": (*turn).recall, "subagent": (*turn).subagent, "question": (*turn).question,
		"run": (*turn).run, "ask": (*turn).ask, "write": (*turn).write, "edit": (*turn).edit,
		"background": (*turn).background, "orphan": (*turn).orphan, "gate": (*turn).gate,
		"flood": (*turn).flood, "flood-output": (*turn).floodOutput, "long-line": (*turn).longLine,
		"garbage": (*turn).garbage, "ignore-signals": (*turn).ignoreSignals,
		"hang":          func(t *turn, _ string) error { <-t.ctx.Done(); return errCancelled },
		"crash":         func(*turn, string) error { crash(); return nil },
		"crash-unseen":  func(*turn, string) error { return errors.New("[[crash-unseen]] must come first") },
		"crash-unacked": func(*turn, string) error { return errors.New("[[crash-unacked]] must come first") },
		"exit":          (*turn).exit,
		"fail":          func(_ *turn, arg string) error { return errors.New(cmp.Or(arg, "the message told it to fail")) },
		"fail-rate":     func(*turn, string) error { return rpcErr{Code: 429, Message: "rate limit reached"} },
		"fail-auth":     func(*turn, string) error { return rpcErr{Code: -32000, Message: "Authentication required"} },
		"stop":          func(t *turn, arg string) error { t.stop = arg; return nil },
		"usage":         (*turn).tokens,
		"slow": func(t *turn, arg string) error {
			n, err := strconv.Atoi(arg)
			t.delay = time.Duration(n) * time.Millisecond
			return err
		},
	}
}

func (t *turn) update(u map[string]any) { t.a.update(t.s, u) }

// name makes an id that is unique in the conversation.
func (t *turn) name(prefix string) string {
	t.pieces++
	return fmt.Sprintf("%s_%d_%d", prefix, t.number, t.pieces)
}

// pause waits between two pieces, if the script says so.
func (t *turn) pause() error {
	if t.delay > 0 {
		select {
		case <-time.After(t.delay):
		case <-t.ctx.Done():
		}
	}
	if t.ctx.Err() != nil {
		return errCancelled
	}
	return nil
}

func (t *turn) tokens(arg string) error {
	var in, out int
	if _, err := fmt.Sscan(arg, &in, &out); err != nil {
		return fmt.Errorf("[[usage IN OUT]]: %w", err)
	}
	t.usage = map[string]any{"inputTokens": in, "outputTokens": out, "totalTokens": in + out}
	t.update(map[string]any{"sessionUpdate": "usage_update", "used": in + out, "size": 200000})
	return nil
}
