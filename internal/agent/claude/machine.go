package claude

import (
	"encoding/json"
	"strings"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

const (
	deadlineHandshake = "handshake"
	handshakeTime     = 60 * time.Second // a cold start took 2.9 s on a slow disk
	tagAnswer         = "answer "        // before the delivery's id
)

// machine is one session. See the package documentation for what it knows of
// claude's ways.
type machine struct {
	s   state
	out agent.Output
}

// State returns the state as JSON.
func (m *machine) State() []byte {
	b, err := json.Marshal(m.s)
	if err != nil {
		panic("claude: the state is always JSON: " + err.Error())
	}
	return b
}

// Step takes one input.
func (m *machine) Step(in agent.Input) agent.Output {
	switch {
	case in.Started:
		m.start()
	case in.Frame != nil && in.Frame.Oversize != nil:
		m.oversize(*in.Frame.Oversize)
	case in.Frame != nil:
		m.frame(in.Frame.Data)
	case in.Written != nil:
		if id, ok := strings.CutPrefix(in.Written.Tag, tagAnswer); ok {
			m.fact(baton.FactDeliveryAccepted{Delivery: baton.DeliveryID(id), Evidence: "written; claude does not acknowledge answers"})
		}
	case in.Deadline == deadlineHandshake && m.s.Phase == phaseNew:
		m.fail(baton.Errorf(baton.CodeStartFailed, "Claude Code did not answer within %s", handshakeTime).
			WithHint("run its command by hand and look at what it says"))
	case in.Exited:
		m.exited()
	}
	switch i := in.Intent.(type) {
	case baton.IntentDeliver:
		m.deliver(i)
	case baton.IntentAnswer:
		m.answer(i)
	case baton.IntentInterrupt:
		m.interrupt(i)
	}
	return m.out.Take()
}

func (m *machine) start() {
	m.deadline(handshakeTime)
	// The text of subagents is left out without the switch.
	line := m.call("initialize", map[string]any{"subtype": "initialize", "forwardSubagentText": true})
	m.writeLine(line)
}

func (m *machine) frame(data []byte) {
	f, ok := decode(data)
	if !ok {
		m.notice("malformed", 10, baton.FactNotice{Level: "warning", Code: baton.CodeFrameRejected,
			Text: "Claude Code wrote a line that is no message: " + agent.Head(string(data), 200)})
		return
	}
	if m.s.Phase == phaseFailed {
		return
	}
	switch f.Type {
	case "command_lifecycle":
		m.lifecycle(f)
	case "system":
		m.system(f)
	case "stream_event":
		m.stream(f)
	case "assistant":
		m.assistant(f)
	case "user":
		m.user(f)
	case "result":
		m.result(f)
	case "control_request":
		m.request(f)
	case "control_cancel_request":
		m.cancelRequest(f.RequestID)
	case "control_response":
		m.answered(f)
	}
}

func (m *machine) system(f frame) {
	if f.Mode != "" && (f.Subtype == "init" || f.Subtype == "status") {
		m.s.Mode = f.Mode // an accepted plan leaves plan mode by itself
	}
	switch f.Subtype {
	case "init":
		m.begin(f)
	case "compact_boundary":
		m.fact(baton.FactItemClosed{Key: m.s.key("compact-"), Kind: baton.ItemCompaction, Status: baton.NodeCompleted})
	case "background_tasks_changed":
		m.background(f)
	case "task_started":
		m.taskStarted(f)
	case "task_notification":
		m.taskEnded(f)
	case "api_retry":
		m.retry(f)
	case "permission_denied", "informational":
		m.told(f)
	}
}

// answered takes the answer to a control request of ours.
func (m *machine) answered(f frame) {
	r := f.Response
	if r == nil {
		return
	}
	subtype, known := m.s.Calls[r.RequestID]
	if !known {
		return
	}
	delete(m.s.Calls, r.RequestID)
	failed := r.Subtype == "error"
	switch {
	case subtype == "initialize" && failed:
		m.fail(baton.Errorf(baton.CodeStartFailed, "Claude Code refused the handshake").WithDetail("%s", agent.Head(r.Error, 500)))
	case subtype == "initialize":
		m.ready(r.Response.Version)
	case subtype == "interrupt":
		for _, uuid := range r.Response.Cancelled {
			m.withdrawn(uuid)
		}
	case failed && subtype != "stop_task": // it may have ended by itself
		m.notice(subtype, 5, baton.FactNotice{Level: "warning", Code: baton.CodeUnsupported,
			Text: "Claude Code did not take a setting (" + subtype + "): " + agent.Head(r.Error, 300),
			Hint: "it takes effect when the session is started again"})
	}
}

func (m *machine) ready(version string) {
	if m.s.Phase != phaseNew {
		return
	}
	if older, _ := agent.Older(version, MinVersion); older {
		m.fail(baton.Errorf(baton.CodeAgentTooOld, "Claude Code %s is too old, the oldest supported is %s", version, MinVersion).
			WithHint("update Claude Code"))
		return
	}
	m.s.Phase = phaseReady
	m.deadline(0)
	m.fact(baton.FactSessionReady{AgentVersion: version, NativeID: m.s.Native, Strength: baton.Strong, Resumed: m.s.Resume})
}

// fail ends the session's usefulness.
func (m *machine) fail(err *baton.Error) {
	m.over(baton.FactSessionFailed{Err: err})
}

func (m *machine) over(f baton.Fact) {
	m.deadline(0)
	m.closeAll()
	m.s.Phase = phaseFailed
	m.fact(f)
}

// exited closes what the process leaves behind. The end of a turn is not told:
// whoever knows how the process ended says that.
func (m *machine) exited() {
	if m.s.Phase == phaseNew {
		m.fail(baton.Errorf(baton.CodeStartFailed, "Claude Code ended before it was ready").
			WithHint("run its command by hand and look at what it says"))
		return
	}
	m.closeAll()
	m.s.Phase = phaseFailed
}

func (m *machine) closeAll() {
	m.closeOpen(baton.NodeInterrupted, true)
	if len(m.s.Background) > 0 {
		m.s.Background = nil
		m.fact(baton.FactDetached{})
	}
	for len(m.s.Requests) > 0 {
		m.requestGone(m.s.Requests[0].ID, "the agent has ended")
	}
}

// call makes a control request.
func (m *machine) call(subtype string, request map[string]any) []byte {
	id := m.s.key("baton-")
	if m.s.Calls == nil {
		m.s.Calls = map[string]string{}
	}
	m.s.Calls[id] = subtype
	return jsonl.Line(map[string]any{"type": "control_request", "request_id": id, "request": request})
}

func (m *machine) fact(f baton.Fact)   { m.out.Fact(f) }
func (m *machine) write(w agent.Write) { m.out.Writes = append(m.out.Writes, w) }
func (m *machine) writeLine(b []byte)  { m.write(agent.Write{Data: b}) }

func (m *machine) deadline(d time.Duration) {
	m.out.SetDeadline(deadlineHandshake, d)
}

// notice tells something, at most limit times for each kind of it.
func (m *machine) notice(kind string, limit int, n baton.FactNotice) {
	m.s.Told.Notice(&m.out, kind, limit, n)
}
