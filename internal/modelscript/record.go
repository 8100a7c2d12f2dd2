package modelscript

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"baton/internal/jsonl"
)

// record keeps the requests and tells those who wait for them.
type record struct {
	mu      sync.Mutex
	list    []Request
	changed chan struct{} // closed and replaced on every change
	out     io.Writer     // a line for each arrival and each end, or nil
}

func newRecord(out io.Writer) *record { return &record{changed: make(chan struct{}), out: out} }

// add stores r and returns its number.
func (c *record) add(r Request) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.N, r.Outcome = len(c.list)+1, OutcomeOpen
	c.list = append(c.list, r)
	c.tell(r)
	return r.N
}

// end sets how request n ended.
func (c *record) end(n int, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list[n-1].Outcome = outcome
	c.tell(struct {
		N       int    `json:"n"`
		Outcome string `json:"outcome"`
	}{n, outcome})
}

func (c *record) tell(line any) {
	close(c.changed)
	c.changed = make(chan struct{})
	if c.out != nil {
		_, _ = c.out.Write(jsonl.Line(line)) // a lost line of the record fails no request
	}
}

func (c *record) snapshot() ([]Request, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Request(nil), c.list...), c.changed
}

// until waits until ok accepts the requests, and returns them. It fails with
// the context's error.
func (c *record) until(ctx context.Context, ok func([]Request) bool) ([]Request, error) {
	for {
		list, changed := c.snapshot()
		if ok(list) {
			return list, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return list, context.Cause(ctx)
		}
	}
}

// bodyOf returns body where it is JSON.
func bodyOf(body []byte) json.RawMessage {
	if json.Valid(body) {
		return body
	}
	return nil
}
