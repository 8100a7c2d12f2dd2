package script

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// background starts a command that outlives the turn. When it ends, a turn
// that nobody asked for reports it.
func (t *turn) background(cmd string) error {
	s, a := t.s, t.a
	id := t.name("call")
	t.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": cmd, "kind": "execute", "status": "in_progress",
		"rawInput": map[string]any{"command": cmd, "cwd": s.cwd}})
	var out head
	c := t.shell(context.Background(), cmd, &out)
	if err := a.start(c); err != nil {
		t.fail(id, err.Error())
		return nil
	}
	s.mu.Lock()
	s.started++
	number := s.started
	s.background[number] = cmd
	s.mu.Unlock()
	t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
		"content": []any{map[string]any{"type": "content", "content": text("started in the background")}}})
	a.detached(s)
	go func() {
		code := a.wait(c)
		report := strings.TrimSpace(fmt.Sprintf("The background command %s ended with exit code %d.\n%s", cmd, code, strings.ToValidUTF8(string(out), "")))
		a.enqueue(&job{s: s, blocks: []Entry{{Type: "user", Role: "event", Text: report}}, stopped: func() {
			s.mu.Lock()
			delete(s.background, number)
			s.mu.Unlock()
			a.detached(s)
		}})
	}()
	return nil
}

// head keeps the first bytes of a command's output.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	if n := keptOutput - len(*h); n > 0 {
		*h = append(*h, p[:min(n, len(p))]...)
	}
	return len(p), nil
}

// detached tells the client what runs beside turns.
func (a *server) detached(s *session) {
	s.mu.Lock()
	names := []string{}
	for _, n := range slices.Sorted(maps.Keys(s.background)) {
		names = append(names, s.background[n])
	}
	s.mu.Unlock()
	a.notify("_baton/detached", map[string]any{"sessionId": s.id, "names": names})
}

// runOwn runs a turn that the agent begins itself: it says what happened.
func (a *server) runOwn(j *job) {
	a.notify("_baton/turn_started", map[string]any{"sessionId": j.s.id})
	j.stopped()
	t, err := a.begin(j)
	if err == nil {
		err = t.say(j.blocks[0].Text)
	}
	end := map[string]any{"sessionId": j.s.id, "stopReason": t.stop}
	switch {
	case j.ctx.Err() != nil:
		end["stopReason"] = "cancelled"
	case err != nil:
		end["error"] = err.Error()
	}
	a.notify("_baton/turn_ended", end)
}

// orphan starts a daemon: it has a session of its own, no tie to the agent's
// pipes, and no living parent here.
func (t *turn) orphan(cmd string) error {
	c := exec.Command("sh", "-c", `sh -c "$1" </dev/null >/dev/null 2>&1 &`, "sh", cmd)
	c.Dir = t.s.cwd
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c.Run()
}
