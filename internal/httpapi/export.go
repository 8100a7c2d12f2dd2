package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"baton"
	"baton/internal/export"
	"baton/internal/journal"
)

// Export is a thread as a document of its own: one of Markdown and Document.
type Export struct {
	ThreadID   string          `json:"thread_id"`
	Redactions int             `json:"redactions" doc:"secrets that were taken out"`
	Markdown   string          `json:"markdown,omitempty"`
	Document   json.RawMessage `json:"document,omitempty"`
}

func (s *Server) export() {
	type exportIn struct {
		ThreadPath
		Format string `query:"format" enum:"markdown,json" default:"markdown"`
	}
	route(s, http.MethodGet, "/api/threads/{thread}/export", "export-thread", "A thread as a page of Markdown, or all its documents as JSON", func(ctx context.Context, r journal.Reader, in *exportIn) (Export, error) {
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return Export{}, err
		}
		doc, err := export.Read(ctx, r, baton.ThreadID(id), time.Now())
		if err != nil {
			return Export{}, err
		}
		out := Export{ThreadID: id, Redactions: doc.Redactions}
		if in.Format == "json" {
			out.Document, err = json.Marshal(doc)
			return out, err
		}
		out.Markdown, err = export.Markdown(doc)
		return out, err
	})
}
