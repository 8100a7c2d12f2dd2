package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"

	"baton"
	"baton/internal/journal"
	"baton/internal/shim"
)

func (s *Server) debug() {
	type eventsIn struct {
		ThreadPath
		After uint64 `query:"after"`
		Limit int    `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
	}
	route(s, http.MethodGet, "/api/debug/threads/{thread}/events", "debug-events", "Events as the journal has them", func(ctx context.Context, r journal.Reader, in *eventsIn) (Page[Event], error) {
		out := Page[Event]{Items: []Event{}}
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return out, err
		}
		events, err := r.Events(ctx, baton.ThreadID(id), in.After, in.Limit)
		for _, e := range events {
			w, err := eventOf(e)
			if err != nil {
				return out, err
			}
			out.Items = append(out.Items, w)
		}
		return out, err
	})
	route(s, http.MethodGet, "/api/debug/threads/{thread}/effects", "debug-effects", "Effects that have not ended", func(ctx context.Context, r journal.Reader, in *ThreadPath) (Page[Effect], error) {
		out := Page[Effect]{Items: []Effect{}}
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return out, err
		}
		l, err := r.Load(ctx, baton.ThreadID(id))
		for _, e := range l.Effects {
			data, err := json.Marshal(e.Data)
			if err != nil {
				return out, err
			}
			out.Items = append(out.Items, Effect{ID: string(e.ID), ThreadID: id, SessionID: string(e.Session), Lane: string(e.Lane), Kind: e.Data.EffectType(), Data: data})
		}
		return out, err
	})
	route(s, http.MethodGet, "/api/debug/threads/{thread}/deliveries", "debug-deliveries", "What was given to agents, and its fate", func(ctx context.Context, r journal.Reader, in *ThreadPath) (Page[Delivery], error) {
		id, err := resolve(ctx, r, journal.KindThread, in.Thread)
		if err != nil {
			return Page[Delivery]{}, err
		}
		all, err := every[Delivery](ctx, r, journal.Query{Kind: journal.KindDelivery, Thread: baton.ThreadID(id)})
		return Page[Delivery]{Items: all}, err
	})
	type framesIn struct {
		Session string `path:"session"`
		After   uint64 `query:"after"`
		Limit   int    `query:"limit" minimum:"1" maximum:"10000" default:"1000"`
	}
	route(s, http.MethodGet, "/api/debug/sessions/{session}/frames", "debug-frames", "Frames of a living session that are still spooled", func(ctx context.Context, r journal.Reader, in *framesIn) (Page[Frame], error) {
		// Only an id that the journal knows becomes part of a path.
		x, err := get[Session](ctx, r, journal.KindSession, in.Session)
		if err != nil {
			return Page[Frame]{}, err
		}
		return s.frames(x, in.After, in.Limit)
	})
}

// frames reads what is left of a session's spool.
func (s *Server) frames(x Session, after uint64, limit int) (Page[Frame], error) {
	out := Page[Frame]{Items: []Frame{}}
	spool, err := shim.ReadSpool(filepath.Join(s.cfg.Places.Sessions, x.ID), after)
	if err != nil {
		return out, baton.Errorf(baton.CodeNotFound, "the session %s has no spool any more", x.ID).
			WithDetail("it is %s; a spool is removed once all of it is in the journal", x.Status).
			WithHint("`baton debug events %s` shows what became of its frames", x.ThreadID)
	}
	defer spool.Close()
	for len(out.Items) < limit {
		f, err := spool.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, Frame{Seq: f.Seq, Time: f.Time, Kind: f.Kind.String(), Partial: f.Partial, ID: f.ID,
			Data: strings.ToValidUTF8(string(f.Data), "\uFFFD")})
	}
	return out, nil
}
