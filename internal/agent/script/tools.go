package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// shell makes sh -c cmd, in a session of its own, that is killed with its
// whole group when ctx ends.
func (t *turn) shell(ctx context.Context, cmd string, out io.Writer) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", cmd)
	c.Dir = t.s.cwd
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second // what the command left running may hold the pipe
	return c
}

// start starts c and notes its process group, to end it with the agent.
func (a *server) start(c *exec.Cmd) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		return errors.New("the agent is about to end")
	}
	if err := c.Start(); err != nil {
		return err
	}
	a.children[c.Process.Pid] = true
	a.reaping.Add(1)
	return nil
}

// wait waits for c and returns its exit code, -1 for a signal.
func (a *server) wait(c *exec.Cmd) int {
	_ = c.Wait()
	a.mu.Lock()
	delete(a.children, c.Process.Pid)
	a.mu.Unlock()
	a.reaping.Done()
	return c.ProcessState.ExitCode()
}

// killChildren ends all commands and waits until they have: it is the last
// thing that the agent does.
func (a *server) killChildren() {
	a.mu.Lock()
	a.closing = true
	for pid := range a.children {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	a.mu.Unlock()
	a.reaping.Wait()
}

// output is a writer that sends a command's output on, on rune boundaries,
// and keeps its head for the conversation.
type output struct {
	t    *turn
	call string
	rest []byte
	head []byte
}

const keptOutput = 4 << 10

func (o *output) Write(p []byte) (int, error) {
	if n := keptOutput - len(o.head); n > 0 {
		o.head = append(o.head, p[:min(n, len(p))]...)
	}
	o.rest = append(o.rest, p...)
	n := len(o.rest)
	for i := 1; i <= 3 && i <= n; i++ { // an unfinished rune at the end waits
		if b := o.rest[n-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(o.rest[n-i:]) {
				n -= i
			}
			break
		}
	}
	o.send(n)
	return len(p), nil
}

func (o *output) send(n int) {
	if n == 0 {
		return
	}
	o.t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": o.call,
		"_meta": map[string]any{"baton": map[string]any{"output": string(o.rest[:n])}}})
	o.rest = append([]byte(nil), o.rest[n:]...)
}

func (t *turn) run(cmd string) error {
	id := t.name("call")
	t.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": cmd, "kind": "execute", "status": "in_progress",
		"rawInput": map[string]any{"command": cmd, "cwd": t.s.cwd}})
	return t.execute(id, cmd)
}

// execute runs the command of an announced call.
func (t *turn) execute(id, cmd string) error {
	out := &output{t: t, call: id}
	c := t.shell(t.ctx, cmd, out)
	code := -1
	if err := t.a.start(c); err != nil {
		_, _ = out.Write([]byte(err.Error() + "\n"))
	} else {
		code = t.a.wait(c)
	}
	out.send(len(out.rest))
	status := "completed"
	if code != 0 {
		status = "failed"
	}
	err := t.s.append(Entry{Type: "tool", Text: fmt.Sprintf("ran %s: exit code %d\n%s", cmd, code, strings.ToValidUTF8(string(out.head), "")), Turn: t.number})
	t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "rawOutput": map[string]any{"exitCode": code}})
	return err
}

// ask asks for permission first. A refusal does not end the turn.
func (t *turn) ask(cmd string) error {
	id := t.name("call")
	call := map[string]any{"toolCallId": id, "title": cmd, "kind": "execute", "status": "pending",
		"rawInput": map[string]any{"command": cmd, "cwd": t.s.cwd}}
	if !t.s.allowed {
		raw, err := t.a.call(t.ctx, "session/request_permission", map[string]any{"sessionId": t.s.id, "toolCall": call, "options": []any{
			map[string]any{"optionId": "once", "name": "Allow once", "kind": "allow_once"},
			map[string]any{"optionId": "always", "name": "Allow for this session", "kind": "allow_always"},
			map[string]any{"optionId": "no", "name": "Decline", "kind": "reject_once"},
		}})
		if err != nil {
			return err
		}
		var r struct {
			Outcome struct {
				Outcome  string `json:"outcome"`
				OptionID string `json:"optionId"`
			} `json:"outcome"`
			Meta struct {
				Baton struct {
					Reason string `json:"reason"`
				} `json:"baton"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		switch {
		case r.Outcome.Outcome != "selected":
			return errCancelled
		case r.Outcome.OptionID == "always":
			t.s.allowed = true
		case r.Outcome.OptionID != "once":
			said := strings.TrimSuffix("The person declined: "+r.Meta.Baton.Reason, ": ")
			if err := t.s.append(Entry{Type: "tool", Text: "asked to run " + cmd + ": " + said, Turn: t.number}); err != nil {
				return err
			}
			t.fail(id, said)
			return nil
		}
	}
	call["sessionUpdate"], call["status"] = "tool_call", "in_progress"
	t.update(call)
	return t.execute(id, cmd)
}

func (t *turn) fail(call, said string) {
	t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "failed",
		"content": []any{map[string]any{"type": "content", "content": text(said)}}})
}

func (t *turn) write(arg string) error {
	path, content, _ := strings.Cut(arg, "\n")
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n" // the mark's end took it
	}
	return t.change(path, func(string, bool) (string, error) { return content, nil })
}

func (t *turn) edit(arg string) error {
	path, rest, _ := strings.Cut(arg, "\n")
	from, to, ok := strings.Cut(rest, "\n=>\n")
	if !ok {
		if from, ok = strings.CutSuffix(rest, "\n=>"); !ok {
			return errors.New(`[[edit PATH\nOLD\n=>\nNEW]]: there is no line "=>"`)
		}
	}
	return t.change(path, func(old string, there bool) (string, error) {
		if !there || !strings.Contains(old, from) {
			return "", fmt.Errorf("%s does not hold %q", path, from)
		}
		return strings.Replace(old, from, to, 1), nil
	})
}

// change rewrites one file and shows the difference.
func (t *turn) change(path string, edit func(old string, there bool) (string, error)) error {
	full := t.path(path)
	id := t.name("call")
	t.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": "Edit " + path, "kind": "edit", "status": "in_progress",
		"locations": []any{map[string]any{"path": full}}})
	old, readErr := os.ReadFile(full)
	now, err := edit(string(old), readErr == nil)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(full), 0o755)
	}
	if err == nil {
		err = os.WriteFile(full, []byte(now), 0o644)
	}
	if err != nil {
		t.fail(id, err.Error())
		return t.s.append(Entry{Type: "tool", Text: "changing " + path + " failed: " + err.Error(), Turn: t.number})
	}
	diff := map[string]any{"type": "diff", "path": full, "newText": now}
	if readErr == nil {
		diff["oldText"] = string(old)
	}
	t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "kind": "edit", "content": []any{diff}})
	return t.s.append(Entry{Type: "tool", Text: "changed " + path, Turn: t.number})
}

func (t *turn) path(p string) string {
	if p = strings.TrimSpace(p); filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(t.s.cwd, p)
}
