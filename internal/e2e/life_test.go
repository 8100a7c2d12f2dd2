package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIdleRelease: a session that nobody needs is let go, and the next message
// resumes the native conversation in a new one.
func TestIdleRelease(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			r := newRig(t, "[recovery]\nidle_after = \"1ms\"\n")
			id := r.thread()
			for n := 1; n <= 2; n++ {
				r.say(id, provider, fmt.Sprintf("message %d [[say fine]]", n))
				ends := 0
				r.await(id, "the release of the session", func(e event) bool {
					if e.Type == "session.ended" && e.Data.Status == "stopped" {
						ends++
					}
					return ends == n
				})
				r.until("the end of the agent", func() bool { return len(r.agentProcesses()) == 0 })
			}
			if n := r.lastWith("message 2").Has("message 1 [[say"); n != 1 {
				t.Errorf("the second session knows the first message %d times", n)
			}
		})
	}
}

// oldAgent writes a program that answers the handshake as an old agent does; an
// old one can't be had beside the pinned one.
func oldAgent(t *testing.T, answer string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	script := "#!/bin/sh\nread line\nid=$(printf %s \"$line\" | sed -E 's/.*\"(id|request_id)\":\"([^\"]*)\".*/\\2/')\n" +
		"printf '" + answer + "\\n' \"$id\"\ncat >/dev/null\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAgentsThatCannotWork: missing, too old, ending at once. The run fails with
// a code and a hint, the message stays, and another agent can go on with it.
func TestAgentsThatCannotWork(t *testing.T) {
	oldCodex := oldAgent(t, `{"id":"%s","result":{"userAgent":"baton/0.98.0 (Linux)","codexHome":"/x","platformFamily":"unix","platformOs":"linux"}}`)
	oldClaude := oldAgent(t, `{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"claude_code_version":"2.0.1"}}}`)
	further := provider("old-codex", "codex", []string{oldCodex}, nil, "") +
		provider("old-claude", "claude", []string{oldClaude}, nil, "") +
		provider("missing", "codex", []string{"/nowhere/codex"}, nil, "") +
		provider("broken", "claude", []string{"/bin/false"}, nil, "")
	r := newRig(t, further)
	id := r.thread()
	for _, c := range []struct {
		provider, code string
		exit           int
	}{
		{"old-codex", "agent_too_old", 1}, {"old-claude", "agent_too_old", 1}, {"broken", "start_failed", 1}, {"missing", "agent_missing", 5},
	} {
		out, errs, code := r.try("send", id, "try "+c.provider, "--provider", c.provider, "--wait")
		if code != c.exit || !strings.Contains(errs, c.code) || !strings.Contains(errs, "hint:") {
			t.Errorf("%s: exit %d\n%s%s", c.provider, code, out, errs)
		}
	}
	r.say(id, "codex", "go on [[say I know all]]")
	last := r.lastWith("go on [[say")
	for _, name := range []string{"old-codex", "old-claude", "broken"} {
		if n := last.Has("try " + name); n != 1 {
			t.Errorf("the message to %s was handed over %d times", name, n)
		}
	}
}
