package httpapi

import (
	"context"
	"net/http"

	"baton"
	"baton/internal/journal"
)

func (s *Server) context() {
	route(s, http.MethodGet, "/api/threads/{thread}/coverage", "show-coverage", "Which runs each agent's conversation knows", func(ctx context.Context, r journal.Reader, in *ThreadPath) (Coverage, error) {
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return Coverage{}, err
		}
		return coverage(ctx, r, id)
	})
	route(s, http.MethodGet, "/api/threads/{thread}/transfers", "list-transfers", "Where context had to move", func(ctx context.Context, r journal.Reader, in *ThreadPath) (Page[Transfer], error) {
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return Page[Transfer]{}, err
		}
		all, err := every[Transfer](ctx, r, journal.Query{Kind: journal.KindTransfer, Thread: baton.ThreadID(id)})
		return Page[Transfer]{Items: all}, err
	})
	route(s, http.MethodGet, "/api/threads/{thread}/handoffs", "list-handoffs", "Handoffs, without their texts", func(ctx context.Context, r journal.Reader, in *ThreadPath) (Page[Handoff], error) {
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return Page[Handoff]{}, err
		}
		all, err := every[Handoff](ctx, r, journal.Query{Kind: journal.KindHandoff, Thread: baton.ThreadID(id)})
		for i := range all {
			if all[i], err = handoff(ctx, r, all[i]); err != nil {
				return Page[Handoff]{}, err
			}
			all[i].Text, all[i].Document = "", nil
		}
		return Page[Handoff]{Items: all}, err
	})
	type showIn struct {
		Handoff string `path:"handoff"`
	}
	route(s, http.MethodGet, "/api/handoffs/{handoff}", "show-handoff", "A handoff, byte for byte as it is sent", func(ctx context.Context, r journal.Reader, in *showIn) (Handoff, error) {
		id, err := resolve(ctx, r, journal.KindHandoff, in.Handoff)
		if err != nil {
			return Handoff{}, err
		}
		h, err := get[Handoff](ctx, r, journal.KindHandoff, id)
		if err != nil {
			return h, err
		}
		return handoff(ctx, r, h)
	})
}

// coverage reads the provider threads of a thread, each with the newest point
// that its agent has named.
func coverage(ctx context.Context, r journal.Reader, id string) (Coverage, error) {
	out := Coverage{ThreadID: id}
	var err error
	if out.ProviderThreads, err = every[ProviderThread](ctx, r, journal.Query{Kind: journal.KindProviderThread, Thread: baton.ThreadID(id)}); err != nil {
		return out, err
	}
	turns, err := every[struct {
		ProviderThreadID string `json:"provider_thread_id"`
		NativeHead       string `json:"native_head"`
	}](ctx, r, journal.Query{Kind: journal.KindTurn, Thread: baton.ThreadID(id)})
	for i := range out.ProviderThreads {
		p := &out.ProviderThreads[i]
		for _, t := range turns {
			if t.ProviderThreadID == p.ID && t.NativeHead != "" {
				p.NativeHead = t.NativeHead
			}
		}
	}
	return out, err
}

// handoff adds the state of the newest delivery.
func handoff(ctx context.Context, r journal.Reader, h Handoff) (Handoff, error) {
	if h.Delivery == nil || h.Delivery.ID == "" {
		return h, nil
	}
	d, err := get[Delivery](ctx, r, journal.KindDelivery, h.Delivery.ID)
	h.Delivery.State = d.State
	return h, err
}
