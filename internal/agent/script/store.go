package script

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"

	"baton/internal/jsonl"
)

// Entry is one line of a conversation's file.
type Entry struct {
	Type     string `json:"type"`           // session, user, assistant, tool
	Role     string `json:"role,omitempty"` // of a user block: message, handoff, or event for what the agent told itself
	Text     string `json:"text,omitempty"`
	Delivery string `json:"delivery,omitempty"` // Baton's id of the block
	ID       string `json:"id,omitempty"`       // of the session
	Turn     int    `json:"turn,omitempty"`
}

// Request is one line of requests.jsonl: what a model would have been sent.
type Request struct {
	Session  string  `json:"session"`
	Turn     int     `json:"turn"`
	Messages []Entry `json:"messages"`
}

// session is an open conversation and its file, which it has locked.
type session struct {
	id  string
	cwd string

	mu      sync.Mutex
	file    *os.File
	entries []Entry
	turns   int

	allowed    bool           // the person allowed everything for this session
	background map[int]string // running background commands by number
	started    int            // background commands so far
}

func home(env func(string) string) string {
	if h := env("BATON_SCRIPT_HOME"); h != "" {
		return h
	}
	if h := env("HOME"); h != "" {
		return filepath.Join(h, ".baton-script")
	}
	return ""
}

var sessionID = regexp.MustCompile(`^script-[0-9a-f]{32}$`)

func sessionFile(home, id string) string { return filepath.Join(home, "sessions", id+".jsonl") }

func newSession(home string) (*session, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	id := "script-" + hex.EncodeToString(b[:])
	if err := os.MkdirAll(filepath.Join(home, "sessions"), 0o700); err != nil {
		return nil, err
	}
	s, err := openSession(home, id, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	return s, s.append(Entry{Type: "session", ID: id})
}

func loadSession(home, id string) (*session, error) {
	if !sessionID.MatchString(id) {
		return nil, rpcErr{Code: -32002, Message: "Resource not found: session " + id}
	}
	s, err := openSession(home, id, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, rpcErr{Code: -32002, Message: "Resource not found: session " + id}
	}
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(s.file.Name())
	if err != nil {
		s.file.Close()
		return nil, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	if len(whole) < len(data) { // a line that a crash cut off was never used
		if err := s.file.Truncate(int64(len(whole))); err != nil {
			s.file.Close()
			return nil, err
		}
	}
	if s.entries, err = entries(whole); err != nil || len(s.entries) == 0 {
		s.file.Close()
		return nil, rpcErr{Code: -32603, Message: fmt.Sprintf("Internal error: session %s is damaged: %v", id, err)}
	}
	for _, e := range s.entries {
		s.turns = max(s.turns, e.Turn)
	}
	return s, nil
}

func openSession(home, id string, flag int) (*session, error) {
	f, err := os.OpenFile(sessionFile(home, id), os.O_RDWR|os.O_APPEND|flag, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, rpcErr{Code: -32603, Message: "Internal error: session " + id + " is in use by another process"}
	}
	return &session{id: id, file: f, background: map[int]string{}}, nil
}

func entries(data []byte) ([]Entry, error) {
	var out []Entry
	for line := range bytes.Lines(data) {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// append stores entries durably; only then may they be used.
func (s *session) append(list ...Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b bytes.Buffer
	for _, e := range list {
		b.Write(jsonl.Line(e))
	}
	if _, err := s.file.Write(b.Bytes()); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.entries = append(s.entries, list...)
	return nil
}

// history returns what the conversation holds.
func (s *session) history() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[:len(s.entries):len(s.entries)]
}

// messages counts what the person said.
func (s *session) messages() (n int) {
	for _, e := range s.history() {
		if e.Type == "user" && e.Role == "message" {
			n++
		}
	}
	return n
}

// logRequest writes down what a model would have been sent now.
func (a *server) logRequest(s *session, turn int) error {
	if a.env("BATON_SCRIPT_REQUESTS") == "0" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(a.home, "requests.jsonl"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(jsonl.Line(Request{Session: s.id, Turn: turn, Messages: s.history()[1:]}))
	return err
}
