package claude

import (
	"bytes"
	"fmt"
	"regexp"

	"baton"
	"baton/internal/agent"
)

// retry tells that the model's service is asked again. What has streamed of the
// response is void.
func (m *machine) retry(f frame) {
	m.void()
	text := "the model's service could not be reached"
	code := baton.CodeModelUnreachable
	switch {
	case f.ErrorStatus == 429 || f.ErrorStatus == 529:
		text, code = fmt.Sprintf("the model's service refuses for now (%d)", f.ErrorStatus), baton.CodeRateLimited
	case f.ErrorStatus == 401 || f.ErrorStatus == 403:
		text, code = fmt.Sprintf("the model's service does not accept the sign-in (%d)", f.ErrorStatus), baton.CodeUnauthorized
	case f.ErrorStatus != 0:
		text, code = fmt.Sprintf("the model's service answered %d", f.ErrorStatus), baton.CodeAgentFailed
	}
	m.fact(baton.FactNotice{Level: "warning", Code: code,
		Text: fmt.Sprintf("%s; Claude Code tries again (%d of %d)", text, f.Attempt, f.MaxRetries)})
}

// told passes on what claude wants to be seen.
func (m *machine) told(f frame) {
	n := baton.FactNotice{Level: "info", Text: agent.Head(f.Content, 500)}
	if f.Subtype == "permission_denied" {
		n = baton.FactNotice{Level: "warning", Code: baton.CodeForbidden,
			Text: "Claude Code may not use " + agent.Head(f.Tool, maxSubject) + " in its permission mode",
			Hint: "choose another permission mode"}
	} else if f.Level == "warning" || f.Level == "error" {
		n.Level = f.Level
	}
	if n.Text != "" {
		m.notice("told", 50, n)
	}
}

var (
	headRequest = regexp.MustCompile(`"request_id":\s*"([^"]+)"`)
	headTool    = regexp.MustCompile(`"tool_use_id":\s*"([^"]+)"`)
)

// oversize stands in for a line that was too long to be kept. Its head tells
// what it was: a request is refused, a result of a tool closes its item, a
// result of a turn ends it, since nothing else would.
func (m *machine) oversize(o agent.Oversize) {
	m.notice("oversize", 10, baton.FactNotice{Level: "warning", Code: baton.CodeFrameRejected,
		Text: fmt.Sprintf("Claude Code wrote a line of %d bytes, which was not kept", o.Length)})
	if m.s.Phase != phaseReady {
		return
	}
	switch {
	case bytes.Contains(o.Head, []byte(`"control_request"`)):
		if id := headRequest.FindSubmatch(o.Head); id != nil {
			m.writeLine(refusal(string(id[1]), "the request is too large"))
		}
	case bytes.Contains(o.Head, []byte(`"tool_result"`)):
		if id := headTool.FindSubmatch(o.Head); id != nil {
			if open := m.s.item(string(id[1])); open != nil && open.Key != "" {
				m.closeItem(open, baton.NodeCompleted, baton.ItemBody{Output: "(the output was too large to be kept)"})
			}
		}
	case bytes.Contains(o.Head, []byte(`"assistant"`)):
		m.closeBlock(baton.NodeCompleted, "")
	case m.s.Turn != nil && bytes.Contains(o.Head, []byte(`"duration_api_ms"`)):
		m.endTurn(baton.TurnFailed, baton.Errorf(baton.CodeFrameRejected, "the end of the turn was too large to be read"), frame{})
	}
}
