package httpapi

import (
	"context"
	"net/http"

	"baton"
	"baton/internal/journal"
)

func (s *Server) requests() {
	type listIn struct {
		Thread string `query:"thread" doc:"only those of one thread"`
		All    bool   `query:"all" doc:"with those that have ended"`
	}
	route(s, http.MethodGet, "/api/requests", "list-requests", "What agents ask and wait for", func(ctx context.Context, r journal.Reader, in *listIn) (Page[Request], error) {
		out := Page[Request]{Items: []Request{}}
		if in.Thread != "" {
			id, err := resolve(ctx, r, journal.KindThread, in.Thread)
			if err != nil {
				return out, err
			}
			in.Thread = id
		}
		if in.All {
			all, err := every[Request](ctx, r, journal.Query{Kind: journal.KindRequest, Thread: baton.ThreadID(in.Thread)})
			out.Items = all
			return out, err
		}
		threads, err := pendingThreads(ctx, r, in.Thread)
		if err != nil {
			return out, err
		}
		for _, t := range threads {
			for _, q := range t.PendingRequests {
				v, err := get[Request](ctx, r, journal.KindRequest, q.ID)
				if err != nil {
					return out, err
				}
				out.Items = append(out.Items, v)
			}
		}
		return out, nil
	})
	type showIn struct {
		Request string `path:"request"`
	}
	route(s, http.MethodGet, "/api/requests/{request}", "show-request", "A request", func(ctx context.Context, r journal.Reader, in *showIn) (Request, error) {
		id, err := resolve(ctx, r, journal.KindRequest, in.Request)
		if err != nil {
			return Request{}, err
		}
		return get[Request](ctx, r, journal.KindRequest, id)
	})
}

// pendingThreads returns the threads in which something is asked. Only threads
// of which something is open can be among them.
func pendingThreads(ctx context.Context, r journal.Reader, only string) ([]Thread, error) {
	ids := []baton.ThreadID{baton.ThreadID(only)}
	if only == "" {
		var err error
		if ids, err = r.Unsettled(ctx); err != nil {
			return nil, err
		}
	}
	var out []Thread
	for _, id := range ids {
		doc, err := get[threadDoc](ctx, r, journal.KindThread, string(id))
		if err != nil {
			return nil, err
		}
		out = append(out, doc.thread())
	}
	return out, nil
}
