package modelscript

import (
	"errors"
	"io"
	"net/http"
	"time"

	"baton/internal/directive"
)

// Ends of an answer that are not failures of the server.
var (
	errStopped = errors.New("the server was closed")
	errCut     = errors.New("the script cuts the connection")
	errTold    = errors.New("an error was told")
)

// answer takes one model request from the socket to its outcome.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, name string, wr wire) {
	if !s.begin() {
		return
	}
	defer s.busy.Done()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left before it had asked
	}
	t, err := wr.parse(body)
	header := r.Header.Clone()
	header.Del("Authorization")
	header.Del("X-Api-Key")
	n := s.record.add(Request{Wire: name, Path: r.URL.RequestURI(), Header: header, Body: bodyOf(body),
		Time: time.Now(), Model: t.model, blocks: t.blocks})
	if err == nil {
		var rep reply
		if rep, err = plan(t.blocks, func(m directive.Directive) ([]call, error) { return wr.calls(t, m) }); err == nil {
			p := &player{Server: s, r: r, w: w, wire: wr, sink: wr.sink(w, t, rep.usage)}
			err = p.play(rep.actions)
			s.record.end(n, outcome(err))
			if errors.Is(err, errCut) {
				panic(http.ErrAbortHandler) // net/http's way to drop the connection; it is recovered there
			}
			return
		}
	}
	s.record.end(n, OutcomeFailed)
	_ = writeJSON(w, http.StatusBadRequest, wr.fault(fault{status: http.StatusBadRequest, message: err.Error()}))
}

func outcome(err error) string {
	switch {
	case err == nil:
		return OutcomeDone
	case errors.Is(err, errTold):
		return OutcomeFailed
	case errors.Is(err, errCut):
		return OutcomeCut
	case errors.Is(err, errStopped):
		return OutcomeStopped
	}
	return OutcomeDisconnected
}

// player does the actions of one reply.
type player struct {
	*Server
	r    *http.Request
	w    http.ResponseWriter
	wire wire
	sink sink
	open bool
}

func (p *player) play(actions []action) error {
	for i, a := range actions {
		if a.until != "" && p.gates.released(a.until) {
			continue
		}
		// A gate before an HTTP error must leave the status unsent.
		if !p.open && !p.failsFirst(actions[i:]) {
			p.open = true
			if err := p.sink.open(); err != nil {
				return err
			}
		}
		if err := p.do(a); err != nil {
			return err
		}
	}
	if !p.open { // all its marks were void
		p.open = true
		if err := p.sink.open(); err != nil {
			return err
		}
	}
	return p.sink.close()
}

// failsFirst says that an HTTP error comes before anything that is streamed.
func (p *player) failsFirst(actions []action) bool {
	for _, a := range actions {
		switch {
		case a.until != "" && p.gates.released(a.until), a.verb == "gate":
		default:
			return a.verb == "fail"
		}
	}
	return false
}

func (p *player) do(a action) error {
	switch a.verb {
	case "say":
		return p.sink.say(a.deltas)
	case "think":
		return p.sink.think(a.deltas)
	case "calls":
		for _, c := range a.calls {
			if err := p.sink.call(c); err != nil {
				return err
			}
		}
		return nil
	case "gate", "stall":
		return p.gates.wait(p.r.Context(), a.gate, p.stop)
	case "cut":
		if _, document := p.sink.(*documentSink); document && a.fault.kind == "streams" {
			return nil
		}
		return errCut
	case "fail":
		if !p.open {
			return errors.Join(errTold, writeJSON(p.w, a.fault.status, p.wire.fault(a.fault)))
		}
	}
	return errors.Join(errTold, p.sink.fault(a.fault)) // error, and fail in the middle
}
