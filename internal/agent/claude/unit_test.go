package claude_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/agent/claude"
)

// ids of deliveries, and of messages as claude names them.
const (
	d1, d2, d3 = baton.DeliveryID("dlv_u1"), baton.DeliveryID("dlv_u2"), baton.DeliveryID("dlv_u3")
	u1, u2, u3 = "u1", "u2", "u3"
)

// unit is a machine that is stored and loaded before every input.
type unit struct {
	t     *testing.T
	state []byte
	facts []baton.Fact // of all inputs
	out   agent.Output // of the last
}

func newUnit(t *testing.T, change func(*agent.Spec)) *unit {
	spec := agent.Spec{Command: []string{"claude"}, Dir: "/w", NewID: "new"}
	if change != nil {
		change(&spec)
	}
	u := &unit{t: t, state: claude.Driver{}.New(spec).State()}
	return u.step(agent.Input{Started: true})
}

// ready is a unit after its handshake.
func ready(t *testing.T) *unit {
	return newUnit(t, nil).frames(`{"type":"control_response","response":{"subtype":"success","request_id":"baton-1","response":{"claude_code_version":"2.1.332"}}}`)
}

func (u *unit) step(in agent.Input) *unit {
	u.t.Helper()
	m, err := claude.Driver{}.Load(u.state)
	if err != nil {
		u.t.Fatal(err)
	}
	u.out = m.Step(in)
	u.state = m.State()
	u.facts = append(u.facts, u.out.Facts...)
	for _, w := range u.out.Writes {
		for line := range strings.Lines(string(w.Data)) {
			if !json.Valid([]byte(line)) || !utf8.ValidString(line) || !strings.HasSuffix(line, "\n") {
				u.t.Errorf("a malformed line: %q", line)
			}
		}
	}
	return u
}

func (u *unit) frames(lines ...string) *unit {
	u.t.Helper()
	for _, l := range lines {
		u.step(agent.Input{Frame: &agent.Frame{Data: []byte(l)}})
	}
	return u
}

func (u *unit) deliver(message baton.DeliveryID, text string, handoffs ...baton.DeliveryID) *unit {
	u.t.Helper()
	i := baton.IntentDeliver{Message: baton.Payload{Delivery: message, Text: text}}
	for _, h := range handoffs {
		i.Handoffs = append(i.Handoffs, baton.Payload{Delivery: h, Text: "handoff"})
	}
	return u.step(agent.Input{Intent: i})
}

// turn is ready with an open turn that has taken d1.
func turn(t *testing.T) *unit {
	return ready(t).deliver(d1, "go").frames(life(u1, "queued"), life(u1, "started"), began(u1))
}

// want compares the facts since the last look with short lines.
func (u *unit) want(lines ...string) *unit {
	u.t.Helper()
	got := strings.Split(strings.TrimSpace(show(u.facts)), "\n")
	if len(u.facts) == 0 {
		got = nil
	}
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		u.t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
	u.facts = nil
	return u
}

func (u *unit) wrote(parts ...string) *unit {
	u.t.Helper()
	all := agenttest.Show(agent.Output{Writes: u.out.Writes})
	for _, p := range parts {
		if !strings.Contains(all, p) {
			u.t.Errorf("no %s in %q", p, all)
		}
	}
	return u
}

func (u *unit) silent() *unit {
	u.t.Helper()
	if len(u.out.Writes) != 0 {
		u.t.Errorf("wrote %s", agenttest.Show(u.out))
	}
	return u
}

// show renders facts as one short line each.
func show(facts []baton.Fact) string {
	var s strings.Builder
	for _, f := range facts {
		switch f := f.(type) {
		case baton.FactSessionReady:
			fmt.Fprintf(&s, "ready %s resumed=%v\n", f.NativeID, f.Resumed)
		case baton.FactSessionFailed:
			fmt.Fprintf(&s, "session failed %s\n", f.Err.Code)
		case baton.FactResumeFailed:
			fmt.Fprintf(&s, "resume failed %s\n", f.Class)
		case baton.FactTurnStarted:
			fmt.Fprintf(&s, "started %s %v\n", f.Key, f.Deliveries)
		case baton.FactTurnEnded:
			code := ""
			if f.Err != nil {
				code = " " + string(f.Err.Code)
			}
			fmt.Fprintf(&s, "ended %s %s%s\n", f.Key, f.Status, code)
		case baton.FactDeliveryAccepted:
			fmt.Fprintf(&s, "accepted %s\n", f.Delivery)
		case baton.FactDeliveryConsumed:
			fmt.Fprintf(&s, "consumed %s %s\n", f.Delivery, f.TurnKey)
		case baton.FactDeliveryDropped:
			fmt.Fprintf(&s, "dropped %s %s\n", f.Delivery, f.Err.Code)
		case baton.FactItemOpened:
			fmt.Fprintf(&s, "open %s %s%s\n", f.Kind, f.Key, strings.TrimSuffix(" < "+f.Parent, " < "))
		case baton.FactItemDelta:
			fmt.Fprintf(&s, "delta %s %s\n", f.Key, f.Text)
		case baton.FactItemReset:
			fmt.Fprintf(&s, "reset %s\n", f.Key)
		case baton.FactItemClosed:
			fmt.Fprintf(&s, "close %s %s %s %s\n", f.Kind, f.Key, f.Status, f.Body.Text+f.Body.Output)
		case baton.FactRequestOpened:
			fmt.Fprintf(&s, "asks %s %s %d options\n", f.Kind, f.Key, len(f.Options))
		case baton.FactRequestGone:
			fmt.Fprintf(&s, "gone %s\n", f.Key)
		case baton.FactDetached:
			fmt.Fprintf(&s, "detached %v\n", f.Names)
		case baton.FactNotice:
			fmt.Fprintf(&s, "notice %s %s\n", f.Level, f.Code)
		default:
			fmt.Fprintf(&s, "%T\n", f)
		}
	}
	return strings.ReplaceAll(s.String(), " \n", "\n")
}

// Lines of claude, small.

func life(uuid, state string) string {
	return fmt.Sprintf(`{"type":"command_lifecycle","command_uuid":%q,"state":%q}`, uuid, state)
}

func began(uuids ...string) string {
	b, _ := json.Marshal(uuids)
	return `{"type":"system","subtype":"init","uuid":"i","user_message_uuids":` + string(b) + `}`
}

// over is the result of a turn; fields are JSON members.
func over(fields string, uuids ...string) string {
	b, _ := json.Marshal(uuids)
	return `{"type":"result","num_turns":1,` + fields + `,"user_message_uuids":` + string(b) + `}`
}

const (
	done    = `"is_error":false,"terminal_reason":"completed"`
	aborted = `"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic] x"]`
)

func event(json string) string { return `{"type":"stream_event","event":` + json + `}` }

func messageStart(id string) string {
	return event(`{"type":"message_start","message":{"id":"` + id + `"}}`)
}

func blockStart(index int, kind string) string {
	return event(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":%q}}`, index, kind))
}

func textDelta(index int, text string) string {
	return event(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%q}}`, index, text))
}

func said(text string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"text","text":%q}]}}`, text)
}

// call is a tool call, under a subagent's call where parent is set.
func call(parent, id, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"a","parent_tool_use_id":%q,"message":{"id":"m","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, parent, id, tool, input)
}

// gave is a tool's result; more are further JSON members of the line.
func gave(id, text string, failed bool, more string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%v}]}%s}`, id, text, failed, more)
}

func asks(id, tool, input, more string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","tool_name":%q,"input":%s%s}}`, id, tool, input, more)
}
