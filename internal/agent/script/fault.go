package script

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// crash ends the process as kill -9 does.
func crash() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

func (t *turn) exit(arg string) error {
	code, err := strconv.Atoi(arg)
	if err != nil {
		return fmt.Errorf("[[exit N]]: %w", err)
	}
	t.a.killChildren()
	os.Exit(code)
	return nil
}

func (t *turn) ignoreSignals(string) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	t.a.mu.Lock()
	t.a.deaf = true
	t.a.mu.Unlock()
	return nil
}

// gate makes a FIFO and waits until a line is written to it. It is opened for
// writing too, so that a writer never blocks and its end is no end of the wait.
func (t *turn) gate(arg string) error {
	path := t.path(arg)
	id := t.name("call")
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return nil // an open gate
	}
	if err := os.WriteFile(path+".waiting", nil, 0o600); err != nil {
		return err
	}
	t.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": "Wait for " + arg, "kind": "other", "status": "in_progress"})
	go func() {
		<-t.ctx.Done() // at the latest when the turn has ended
		f.Close()
	}()
	_, err = f.Read(make([]byte, 1))
	os.Remove(path + ".waiting")
	os.Remove(path)
	if t.ctx.Err() != nil {
		return errCancelled
	}
	t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"})
	return err
}

// garbage sends what no client should fall over.
func (t *turn) garbage(string) error {
	for _, line := range []string{
		"this is no JSON",
		`{"jsonrpc":"2.0","method":"session/upd`,
		"[1,2,3]",
		"null",
		"\x00\xff\xfe binary",
		`{"jsonrpc":"2.0","id":"nobody asked","result":{}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":"text"}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + t.s.id + `","update":{"sessionUpdate":"tool_call"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + t.s.id + `","update":{"sessionUpdate":"unheard_of","x":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{}}`,
		`{"jsonrpc":"2.0","method":"_unknown/notification"}`,
	} {
		t.a.raw([]byte(line + "\n"))
	}
	return nil
}

const piece = 4 << 10

func (t *turn) flood(arg string) error {
	n, err := size(arg)
	if err != nil {
		return err
	}
	if err := t.s.append(Entry{Type: "assistant", Text: fmt.Sprintf("(%d bytes of words)", n), Turn: t.number}); err != nil {
		return err
	}
	id := t.name("msg")
	return t.words(n, func(s string) {
		t.update(map[string]any{"sessionUpdate": "agent_message_chunk", "messageId": id, "content": text(s)})
	})
}

func (t *turn) floodOutput(arg string) error {
	n, err := size(arg)
	if err != nil {
		return err
	}
	id := t.name("call")
	t.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": "flood " + arg, "kind": "execute", "status": "in_progress",
		"rawInput": map[string]any{"command": "flood " + arg}})
	err = t.words(n, func(s string) {
		t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "_meta": map[string]any{"baton": map[string]any{"output": s}}})
	})
	if err != nil {
		return err
	}
	t.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed", "rawOutput": map[string]any{"exitCode": 0}})
	return t.s.append(Entry{Type: "tool", Text: fmt.Sprintf("%d bytes of output", n), Turn: t.number})
}

func (t *turn) longLine(arg string) error {
	n, err := size(arg)
	if err != nil {
		return err
	}
	if err := t.s.append(Entry{Type: "assistant", Text: fmt.Sprintf("(%d bytes of words in a line)", n), Turn: t.number}); err != nil {
		return err
	}
	var b strings.Builder
	if err := t.words(n, func(s string) { b.WriteString(s) }); err != nil {
		return err
	}
	t.update(map[string]any{"sessionUpdate": "agent_message_chunk", "messageId": t.name("msg"), "content": text(b.String())})
	return nil
}

// words gives n bytes of words that differ, in pieces.
func (t *turn) words(n int, give func(string)) error {
	var b strings.Builder
	for i := 0; n > 0; i++ {
		w := "word" + strconv.Itoa(i) + " "
		if i%12 == 11 {
			w = "line" + strconv.Itoa(i) + "\n"
		}
		w = w[:min(len(w), n)]
		n -= len(w)
		b.WriteString(w)
		if b.Len() >= piece || n == 0 {
			give(b.String())
			b.Reset()
			if err := t.pause(); err != nil {
				return err
			}
		}
	}
	return nil
}

// size reads a number of bytes, with k or m behind it.
func size(s string) (int, error) {
	unit := 1
	switch {
	case strings.HasSuffix(s, "k"):
		unit = 1 << 10
	case strings.HasSuffix(s, "m"):
		unit = 1 << 20
	}
	n, err := strconv.Atoi(strings.TrimRight(s, "km"))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number of bytes", s)
	}
	return n * unit, nil
}
