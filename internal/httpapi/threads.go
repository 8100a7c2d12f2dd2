package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"baton"
	"baton/internal/journal"
)

// body is an answer with a body.
type body[T any] struct{ Body T }

// ThreadPath names a thread.
type ThreadPath struct {
	Thread string `path:"thread" doc:"id of a thread, or its unique beginning or end"`
}

// Paging is how much of a list is wanted.
type Paging struct {
	Cursor string `query:"cursor" doc:"next of the part before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

// route registers a handler whose errors become problems. The handler reads
// one unchanging point of the journal.
func route[I, O any](s *Server, method, path, id, summary string, handle func(ctx context.Context, r journal.Reader, in *I) (O, error)) {
	op := huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, MaxBodyBytes: -1}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*body[O], error) {
		var out body[O]
		err := s.cfg.Engine.View(ctx, func(r journal.Reader) (err error) {
			out.Body, err = handle(ctx, r, in)
			return err
		})
		if err != nil {
			return nil, s.fail(err)
		}
		return &out, nil
	})
}

func (s *Server) threads() {
	s.listThreads()
	type showIn struct {
		ThreadPath
		Runs int `query:"runs" minimum:"0" maximum:"1000" default:"200" doc:"how many of the newest runs come with it"`
	}
	route(s, http.MethodGet, "/api/threads/{thread}", "show-thread", "A thread with its runs", func(ctx context.Context, r journal.Reader, in *showIn) (Thread, error) {
		return thread(ctx, r, in.Thread, in.Runs)
	})
	type itemsIn struct {
		ThreadPath
		Paging
		Run    string `query:"run" doc:"only those of one run"`
		Newest bool   `query:"newest" doc:"newest first"`
	}
	route(s, http.MethodGet, "/api/threads/{thread}/items", "list-items", "The timeline, in the server's order", func(ctx context.Context, r journal.Reader, in *itemsIn) (Page[Item], error) {
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return Page[Item]{}, err
		}
		return page[Item](ctx, r, journal.Query{Kind: journal.KindItem, Thread: baton.ThreadID(id), Run: baton.RunID(in.Run), Desc: in.Newest, Limit: in.Limit}, in.Cursor)
	})
	type runIn struct {
		Run string `path:"run"`
	}
	route(s, http.MethodGet, "/api/runs/{run}", "show-run", "A run with its attempts and its answer", func(ctx context.Context, r journal.Reader, in *runIn) (Run, error) {
		v, err := get[Run](ctx, r, journal.KindRun, in.Run)
		if err != nil {
			return v, err
		}
		t, err := get[threadDoc](ctx, r, journal.KindThread, v.ThreadID)
		if err != nil {
			return v, err
		}
		return run(ctx, r, v, t.thread().PendingRequests)
	})
	route(s, http.MethodGet, "/api/threads/{thread}/sessions", "list-sessions", "The agent processes of a thread", func(ctx context.Context, r journal.Reader, in *ThreadPath) (Page[Session], error) {
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return Page[Session]{}, err
		}
		all, err := every[Session](ctx, r, journal.Query{Kind: journal.KindSession, Thread: baton.ThreadID(id)})
		return Page[Session]{Items: all}, err
	})
}

// thread reads a thread and its newest runs, the oldest of those first.
func thread(ctx context.Context, r journal.Reader, id string, runs int) (Thread, error) {
	id, err := resolve(ctx, r, journal.KindThread, id)
	if err != nil {
		return Thread{}, err
	}
	doc, err := get[threadDoc](ctx, r, journal.KindThread, id)
	if err != nil {
		return Thread{}, err
	}
	t := doc.thread()
	l, err := r.Load(ctx, baton.ThreadID(id))
	if err != nil {
		return t, err
	}
	t.Version = l.Version
	t.Runs = []Run{}
	if runs == 0 {
		return t, nil
	}
	docs, err := r.List(ctx, journal.Query{Kind: journal.KindRun, Thread: baton.ThreadID(id), Desc: true, Limit: runs})
	if err != nil {
		return t, err
	}
	for _, d := range slices.Backward(docs) {
		v, err := decode[Run](d)
		if err != nil {
			return t, err
		}
		if v, err = run(ctx, r, v, t.PendingRequests); err != nil {
			return t, err
		}
		t.Runs = append(t.Runs, v)
	}
	return t, nil
}
