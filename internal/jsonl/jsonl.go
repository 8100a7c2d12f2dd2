// Package jsonl holds what the line protocols of agents share: one JSON object
// a line, and the three shapes of JSON-RPC. It decodes loosely, since agents
// add fields and kinds with every release.
package jsonl

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Line encodes v as one line with its line break. HTML characters are not
// escaped. It panics on what can't be JSON, which is a fault of the caller.
func Line(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("jsonl: " + err.Error())
	}
	return b.Bytes()
}

// Kind is the shape of a JSON-RPC message. It follows from the members alone,
// since both sides may use the same ids (codex 0.171.0 counts from 0).
type Kind int

// The shapes.
const (
	Malformed    Kind = iota
	Request           // method and id
	Notification      // method
	Response          // id, result or error
)

// Message is any JSON-RPC message. A `jsonrpc` member is neither asked nor sent by default.
type Message struct {
	JSONRPC string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *RPCError       `json:"error,omitempty"`
}

// RPCError is the error member of a response.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Decode reads one line. What is no JSON object is Malformed.
func Decode(line []byte) (Message, Kind) {
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, Malformed
	}
	hasID := len(m.ID) > 0 && !bytes.Equal(m.ID, []byte("null"))
	switch {
	case m.Method != "" && hasID:
		return m, Request
	case m.Method != "":
		return m, Notification
	case hasID:
		return m, Response
	}
	return m, Malformed
}

// StringID returns the id as a string when it is one of ours (we send string
// ids), and false for a number.
func (m Message) StringID() (string, bool) {
	s, err := strconv.Unquote(string(m.ID))
	if err != nil || len(m.ID) == 0 || m.ID[0] != '"' {
		return "", false
	}
	return s, true
}
