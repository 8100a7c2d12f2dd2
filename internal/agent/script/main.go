package script

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"baton/internal/jsonl"
)

// server is the process: one connection, any number of conversations, one turn
// at a time.
type server struct {
	home    string
	env     func(string) string
	stderr  io.Writer
	version string

	outMu sync.Mutex
	out   io.Writer

	mu       sync.Mutex
	sessions map[string]*session
	waiting  map[string]chan jsonl.Message // answers to our requests, by id
	next     int
	forms    bool // the client takes forms
	deaf     bool
	jobs     []*job // running and waiting turns
	queue    chan *job
	children map[int]bool // process groups to end with the agent
	closing  bool
	reaping  sync.WaitGroup // one for each child that has not been waited for
}

// Main runs the agent until its input ends, and returns its exit status. env
// gives variables of its environment; version is what it calls itself.
func Main(stdin io.Reader, stdout, stderr io.Writer, env func(string) string, version string) int {
	home := home(env)
	if home == "" {
		fmt.Fprintln(stderr, "baton agent script: set HOME or BATON_SCRIPT_HOME, so that conversations can be kept")
		return 2
	}
	a := &server{home: home, env: env, stderr: stderr, out: stdout, version: version,
		sessions: map[string]*session{}, waiting: map[string]chan jsonl.Message{},
		queue: make(chan *job, 1024), children: map[int]bool{}}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(term)
	go a.work()
	ended := make(chan error, 1)
	go func() { ended <- a.read(stdin) }()
	for {
		select {
		case <-term:
			if !a.isDeaf() {
				a.killChildren()
				return 143
			}
		case err := <-ended:
			if a.isDeaf() {
				ended = nil
				continue
			}
			a.killChildren()
			if err != nil {
				fmt.Fprintln(stderr, "baton agent script:", err)
				return 1
			}
			return 0
		}
	}
}

func (a *server) isDeaf() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deaf
}

// read takes messages until the input ends.
func (a *server) read(in io.Reader) error {
	r := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			a.take(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (a *server) take(line []byte) {
	msg, kind := jsonl.Decode(line)
	switch kind {
	case jsonl.Malformed:
		a.send(map[string]any{"id": nil, "error": jsonl.RPCError{Code: -32700, Message: "Parse error"}})
	case jsonl.Response:
		id, _ := msg.StringID()
		a.mu.Lock()
		ch := a.waiting[id]
		delete(a.waiting, id)
		a.mu.Unlock()
		if ch != nil {
			ch <- msg
		}
	case jsonl.Notification:
		if msg.Method == "session/cancel" {
			var p struct {
				SessionID string `json:"sessionId"`
			}
			_ = json.Unmarshal(msg.Params, &p)
			a.cancel(p.SessionID)
		}
	case jsonl.Request:
		if msg.Method == "session/prompt" {
			a.prompt(msg)
			return
		}
		result, err := a.handle(msg)
		a.reply(msg.ID, result, err)
	}
}

// call asks the client and waits for its answer.
func (a *server) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ch := make(chan jsonl.Message, 1)
	a.mu.Lock()
	a.next++
	id := fmt.Sprintf("s%d", a.next)
	a.waiting[id] = ch
	a.mu.Unlock()
	a.send(map[string]any{"id": id, "method": method, "params": params})
	select {
	case msg := <-ch:
		if msg.Error != nil {
			return nil, rpcErr(*msg.Error)
		}
		return msg.Result, nil
	case <-ctx.Done():
		a.mu.Lock()
		delete(a.waiting, id)
		a.mu.Unlock()
		return nil, ctx.Err()
	}
}

func (a *server) notify(method string, params any) {
	a.send(map[string]any{"method": method, "params": params})
}

func (a *server) reply(id json.RawMessage, result any, err error) {
	if err == nil {
		a.send(map[string]any{"id": id, "result": result})
		return
	}
	e, ok := err.(rpcErr)
	if !ok {
		e = rpcErr{Code: -32603, Message: "Internal error: " + err.Error()}
	}
	a.send(map[string]any{"id": id, "error": jsonl.RPCError(e)})
}

func (a *server) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	a.raw(jsonl.Line(m))
}

// raw writes whole lines. A client that is gone is seen at the end of stdin.
func (a *server) raw(line []byte) {
	a.outMu.Lock()
	defer a.outMu.Unlock()
	_, _ = a.out.Write(line)
}

// rpcErr is an error with a code of JSON-RPC.
type rpcErr jsonl.RPCError

func (e rpcErr) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }
