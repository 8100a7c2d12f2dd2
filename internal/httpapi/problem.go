package httpapi

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"baton"
	"baton/internal/journal"
)

// Problem is how an error reaches a client, as application/problem+json.
type Problem struct {
	Code   baton.Code `json:"code" doc:"stable, for scripts"`
	Title  string     `json:"title"`
	Detail string     `json:"detail,omitempty" doc:"what happened, and to what"`
	Hint   string     `json:"hint,omitempty" doc:"what to do next"`
	Status int        `json:"status"`
	Plan   *Plan      `json:"plan,omitempty" doc:"where a handoff is not the one that was seen: what it is now"`
}

// movedOn is a refusal with the plan as it is now.
type movedOn struct {
	error
	plan Plan
}

func (m movedOn) Unwrap() error { return m.error }

// Error gives title and detail.
func (p *Problem) Error() string { return p.err().Error() }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType names the media type of errors.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

func (p *Problem) err() *baton.Error {
	return &baton.Error{Code: p.Code, Title: p.Title, Detail: p.Detail, Hint: p.Hint}
}

// ProblemOf returns err as a client sees it.
func ProblemOf(err error) *Problem {
	if errors.Is(err, journal.ErrNotFound) {
		err = baton.Errorf(baton.CodeNotFound, "there is no such thing").WithHint("`baton ls` shows the threads")
	}
	e := baton.AsError(err)
	title := e.Title
	if title == "" {
		title = strings.ReplaceAll(string(e.Code), "_", " ")
	}
	p := &Problem{Code: e.Code, Title: title, Detail: e.Detail, Hint: e.Hint, Status: e.Code.Status()}
	var m movedOn
	if errors.As(err, &m) {
		p.Plan = &m.plan
	}
	return p
}

// Unwrap returns the error that the problem was made of, with its code.
func (p *Problem) Unwrap() error { return p.err() }

// Failure turns a problem back into the error that it was; a *Problem lies in
// it, for who wants more than the *baton.Error.
func Failure(status int, body []byte) error {
	var p Problem
	if json.Unmarshal(body, &p) == nil && p.Code != "" {
		return &p
	}
	return baton.Errorf(baton.CodeInternal, "the server answered with status %d", status).WithDetail("%s", strings.TrimSpace(string(body)))
}

// The framework's own refusals (a body that does not fit the schema, a wrong
// parameter) get our shape and a code.
func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		code := baton.CodeInternal
		switch {
		case status == http.StatusNotFound:
			code = baton.CodeNotFound
		case status == http.StatusRequestEntityTooLarge:
			code = baton.CodeMessageTooLarge
		case status < 500:
			code = baton.CodeInvalid
		}
		var details []string
		for _, err := range errs {
			if err != nil {
				details = append(details, err.Error())
			}
		}
		return &Problem{Code: code, Title: msg, Detail: strings.Join(details, "; "), Status: code.Status(),
			Hint: "see /openapi.json for what this takes"}
	}
}

// fail turns an error of a handler into what the framework sends. What is a
// fault of ours is logged too.
func (s *Server) fail(err error) error {
	p := ProblemOf(err)
	if p.Code == baton.CodeInternal {
		s.log().Error("a request failed", "error", err)
	}
	return p
}

func (s *Server) log() *slog.Logger {
	if s.cfg.Log == nil {
		return slog.Default()
	}
	return s.cfg.Log
}

// refuse answers a request outside of the framework.
func refuse(w http.ResponseWriter, err error) {
	p := ProblemOf(err)
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}
