package codex

import (
	"fmt"
	"regexp"
	"slices"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// The members that begin a line of codex 0.171.0, which writes the id or the
// method first and an item's type and id at its beginning.
var (
	headMethod = regexp.MustCompile(`^\{"method":"([^"]+)"`)
	headAskID  = regexp.MustCompile(`^\{"method":"[^"]+","id":(\d+|"[^"]*")[,}]`)
	headAnswer = regexp.MustCompile(`^\{"id":("[^"]*")[,}]`)
	headItem   = regexp.MustCompile(`"item":\{"type":"[^"]+",.*?"id":"([^"]+)"`)
	headTurn   = regexp.MustCompile(`"turn":\{"id":"([^"]+)"`)
)

// oversize makes the best of a line that was too long to be kept: what waits
// for it must not wait for ever.
func (m *machine) oversize(o agent.Oversize) {
	if m.s.Phase == phaseFailed {
		return
	}
	m.notice("oversize", maxNotices, baton.FactNotice{Level: "warning", Code: baton.CodeFrameRejected,
		Text: fmt.Sprintf("Codex wrote a line of %d bytes, which is too long to be shown", o.Length)})
	if id := headAnswer.FindSubmatch(o.Head); id != nil {
		m.response(jsonl.Message{ID: id[1], Error: &jsonl.RPCError{Message: "the answer was too long to be kept"}})
		return
	}
	if id := headAskID.FindSubmatch(o.Head); id != nil {
		m.refuse(id[1], "the request is too long")
		return
	}
	method := headMethod.FindSubmatch(o.Head)
	if method == nil {
		return
	}
	switch string(method[1]) {
	case "item/completed":
		if id := headItem.FindSubmatch(o.Head); id != nil {
			m.closeOversize(string(id[1]))
		}
	case "turn/completed":
		if id := headTurn.FindSubmatch(o.Head); id != nil {
			if t := m.s.turnByID(string(id[1])); t != nil {
				m.endTurn(*t, baton.TurnFailed, baton.Errorf(baton.CodeFrameRejected, "how the turn ended can't be read").
					WithDetail("codex told it in a line of %d bytes", o.Length).WithHint("look at the workspace before you go on"))
			}
		}
	}
}

// closeOversize closes the newest open item with this native id; the turn is
// not in the head.
func (m *machine) closeOversize(native string) {
	for i, o := range slices.Backward(m.s.Open) {
		if o.Native == native {
			m.s.Open = slices.Delete(m.s.Open, i, i+1)
			m.fact(baton.FactItemClosed{Key: o.Key, Kind: o.Kind, Status: baton.NodeFailed,
				Body: baton.ItemBody{Code: baton.CodeFrameRejected, Hint: "what the agent told of it was too long to be kept"}})
			return
		}
	}
}
