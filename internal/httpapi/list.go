package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"baton"
	"baton/internal/journal"
)

// listThreads serves the one list that grows with everything a person has ever
// done. Its rows are cut out of the stored documents, without decoding them, and
// it is compressed for who asks.
func (s *Server) listThreads() {
	type listIn struct {
		Paging
		State  string `query:"state" enum:"active,archived,deleted,all" default:"active" doc:"which threads"`
		Search string `query:"search" doc:"only those in which this stands, the best first; such a list is one part"`
	}
	op := huma.Operation{OperationID: "list-threads", Method: http.MethodGet, Path: "/api/threads", Summary: "Threads in brief, the liveliest first", MaxBodyBytes: -1,
		Responses: map[string]*huma.Response{"200": {Description: "OK", Content: map[string]*huma.MediaType{
			"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Page[ThreadRow]](), true, "")}}}}}
	huma.Register(s.api, op, func(ctx context.Context, in *listIn) (*huma.StreamResponse, error) {
		var out []byte
		state := baton.ThreadState(in.State)
		if in.State == "all" {
			state = ""
		}
		err := s.cfg.Engine.View(ctx, func(r journal.Reader) error {
			var docs []journal.Document
			var next string
			var err error
			if in.Search != "" {
				docs, err = s.searchThreads(ctx, r, in.Search, state, in.Limit)
			} else {
				docs, next, err = part(ctx, r, journal.Query{Kind: journal.KindThread, State: state, Desc: true, Limit: in.Limit}, in.Cursor)
			}
			if err == nil {
				out, err = threadRows(docs, next)
			}
			return err
		})
		if err != nil {
			return nil, s.fail(err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			c.SetHeader("Content-Type", "application/json")
			c.SetHeader("Vary", "Accept-Encoding")
			if len(out) > 4096 && strings.Contains(c.Header("Accept-Encoding"), "gzip") {
				c.SetHeader("Content-Encoding", "gzip")
				out = zip(out)
			}
			c.SetHeader("Content-Length", strconv.Itoa(len(out)))
			_, _ = c.BodyWriter().Write(out) // who has gone needs no answer
		}}, nil
	})
}

// threadRows writes a Page[ThreadRow].
func threadRows(docs []journal.Document, next string) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, 256*(len(docs)+1)))
	out.WriteString(`{"items":[`)
	for i, d := range docs {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := threadRow(out, d.Body); err != nil {
			return nil, fmt.Errorf("thread %s: %w", d.ID, err)
		}
	}
	out.WriteByte(']')
	if next != "" {
		out.WriteString(`,"next":` + strconv.Quote(next)) // a number and an id: plain ASCII
	}
	out.WriteString("}\n")
	return out.Bytes(), nil
}

// threadRow writes the ThreadRow of a thread's document. What is in both goes
// over as it stands.
func threadRow(out *bytes.Buffer, doc []byte) error {
	var id, title, state, provider, held, last, updated []byte
	active, queued, pending := "", 0, 0
	err := journal.Members(doc, func(name, value []byte) error {
		switch string(name) {
		case "id":
			id = value
		case "title":
			title = value
		case "state":
			state = value
		case "provider":
			provider = value
		case "queue_held":
			held = value
		case "last_run":
			last = value
		case "updated_at":
			updated = value
		case "open_runs":
			return journal.Members(value, func(_, run []byte) error {
				return journal.Members(run, func(name, value []byte) error {
					switch {
					case string(name) != "status":
					case string(value) == `"`+string(baton.RunQueued)+`"`:
						queued++
					default:
						active = string(bytes.Trim(value, `"`))
					}
					return nil
				})
			})
		case "pending_requests":
			return journal.Members(value, func(_, _ []byte) error { pending++; return nil })
		}
		return nil
	})
	if err != nil {
		return err
	}
	member := func(name string, value []byte) {
		if value != nil {
			out.WriteString(name)
			out.Write(value)
		}
	}
	member(`{"id":`, id)
	member(`,"title":`, title)
	member(`,"state":`, state)
	out.WriteString(`,"activity":"` + activity(pending, active, queued, string(held) == "true") + `"`)
	member(`,"provider":`, provider)
	member(`,"queue_held":`, held)
	if queued > 0 {
		out.WriteString(`,"queued_runs":` + strconv.Itoa(queued))
	}
	if pending > 0 {
		out.WriteString(`,"requests":` + strconv.Itoa(pending))
	}
	if last != nil {
		if err := lastRun(out, last); err != nil {
			return err
		}
	}
	member(`,"updated_at":`, updated)
	out.WriteByte('}')
	return nil
}

// lastRun writes the last run without its id and time, which say nothing in a list.
func lastRun(out *bytes.Buffer, last []byte) error {
	out.WriteString(`,"last_run":{`)
	first := true
	err := journal.Members(last, func(name, value []byte) error {
		switch string(name) {
		case "ordinal", "status", "provider":
			if !first {
				out.WriteByte(',')
			}
			first = false
			out.WriteString(`"` + string(name) + `":`)
			out.Write(value)
		}
		return nil
	})
	out.WriteByte('}')
	return err
}

// writers are the compressors; making one costs more than a list does.
var writers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is a good one
	return w
}}

func zip(b []byte) []byte {
	out := bytes.NewBuffer(make([]byte, 0, len(b)/3))
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(out)
	_, _ = w.Write(b) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}
