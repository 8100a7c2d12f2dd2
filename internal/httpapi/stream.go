package httpapi

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"baton"
	"baton/internal/journal"
)

// maxFollowed is how many threads one stream brings.
const maxFollowed = 500

// prefixStream is that of a stream's id, which ends with its connection.
const prefixStream = "str"

type streamIn struct {
	Thread      []string `query:"thread,explode" doc:"a thread to follow: ID, or ID@VERSION with the version of the last event that the reader has"`
	List        bool     `query:"list" doc:"follow the list of threads"`
	Snapshots   bool     `query:"snapshots" default:"true" doc:"false: a thread's events only, all of them, however many"`
	After       string   `query:"after" doc:"id of the last message with one: the cursor of the list, and of threads without a version"`
	LastEventID string   `header:"Last-Event-ID" doc:"the same, from a browser that comes back by itself to the same address: it counts where it is further than what stands there"`
}

func (s *Server) streams() {
	op := huma.Operation{OperationID: "open-stream", Method: http.MethodGet, Path: "/api/streams",
		Summary: "Follow threads and the list of threads, as server-sent events", Description: streamDoc, Responses: s.streamMessages()}
	huma.Register(s.api, op, func(ctx context.Context, in *streamIn) (*huma.StreamResponse, error) {
		st := s.newStream(in.Snapshots)
		if err := st.asked(ctx, in); err != nil {
			return nil, s.fail(err)
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			_, w := humago.Unwrap(c)
			s.open.Store(st.id, st)
			defer s.open.Delete(st.id)
			if err := st.run(c.Context(), w); err != nil {
				s.log().Debug("a stream has ended", "stream", st.id, "error", err)
			}
		}}, nil
	})
	type changeIn struct {
		Stream string `path:"stream"`
		Body   StreamChange
	}
	command(s, "/api/streams/{stream}", "change-stream", "Change what a stream brings", func(ctx context.Context, in *changeIn) (StreamState, error) {
		v, ok := s.open.Load(in.Stream)
		if !ok {
			return StreamState{}, baton.Errorf(baton.CodeNotFound, "there is no stream %s", in.Stream).
				WithDetail("a stream ends with its connection").WithHint("open one with GET /api/streams, and name there all that it shall bring")
		}
		c := change{list: in.Body.List}
		for _, id := range in.Body.Unsubscribe {
			c.leave = append(c.leave, baton.ThreadID(id))
		}
		for _, t := range in.Body.Subscribe {
			id, err := resolve(ctx, s.cfg.Engine.Journal(), journal.KindThread, t.ThreadID)
			if err != nil {
				return StreamState{}, err
			}
			c.join = append(c.join, cursor{thread: baton.ThreadID(id), after: t.After})
		}
		return v.(*stream).ask(c)
	})
}

// asked reads what the stream shall bring at first.
func (st *stream) asked(ctx context.Context, in *streamIn) error {
	back := in.LastEventID != ""
	if back {
		in.After = in.LastEventID
	}
	seq, rows, err := parsePosition(in.After)
	if err != nil {
		return err
	}
	c := change{}
	if in.List {
		c.list, st.rowsFrom = &in.List, rows
	}
	r := st.s.cfg.Engine.Journal()
	for _, arg := range in.Thread {
		name, version, exact := strings.Cut(arg, "@")
		id, err := resolve(ctx, r, journal.KindThread, name)
		if err != nil {
			return err
		}
		t := cursor{thread: baton.ThreadID(id)}
		if exact {
			if t.after, err = strconv.ParseUint(version, 10, 64); err != nil {
				return baton.Errorf(baton.CodeInvalid, "%q is no version of a thread", version).WithHint("write ID@VERSION, or ID alone")
			}
		}
		if seq > 0 && (back || !exact) {
			at, err := r.VersionAt(ctx, t.thread, seq)
			if err != nil {
				return err
			}
			t.after = max(t.after, at)
		}
		c.join = append(c.join, t)
	}
	_, err = st.ask(c)
	return err
}

// parsePosition reads an event id: SEQ, or SEQ.ROWS where the rows of the list
// are behind. 0 is no position.
func parsePosition(id string) (seq, rows uint64, err error) {
	if id == "" {
		return 0, 0, nil
	}
	first, second, behind := strings.Cut(id, ".")
	seq, err = strconv.ParseUint(first, 10, 63)
	rows = seq
	if behind && err == nil {
		rows, err = strconv.ParseUint(second, 10, 63)
	}
	if err != nil {
		return 0, 0, baton.Errorf(baton.CodeInvalid, "%q is no event id of ours", id).WithHint("send the id of the last message as it came, or none")
	}
	return seq, rows, nil
}

// position is the id of a message: all that the stream brings is sent up to
// seq, but for rows, which are sent up to rows.
func position(seq, rows uint64) string {
	id := strconv.FormatUint(seq, 10)
	if rows < seq {
		id += "." + strconv.FormatUint(rows, 10)
	}
	return id
}

// always is a sequence behind all others.
const always = uint64(math.MaxInt64)
