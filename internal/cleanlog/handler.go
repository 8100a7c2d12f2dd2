// Package cleanlog takes secrets out of a log before it is written.
//
// An error of the system, of a database or of an agent may quote what it was
// given: a URL with its password, a command with its key. So the server's log
// goes through a Handler, which passes every record's message and attributes
// through package redact.
package cleanlog

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"baton/internal/redact"
)

// Handler hands redacted records to another handler. It is as safe for use by
// several goroutines as that one is.
type Handler struct{ next slog.Handler }

// New returns a Handler before next, which it owns from then on.
func New(next slog.Handler) *Handler { return &Handler{next} }

// Enabled is next's answer.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle redacts the record's message and attributes.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

// WithAttrs redacts them now, once for all records.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.next.WithAttrs(all(attrs))}
}

// WithGroup begins a group whose name is redacted.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(text(name))}
}

func all(attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = attr(a)
	}
	return out
}

// attr redacts an attribute. What is no number, time or truth value becomes the
// text of it, as nothing is known of how it will be written.
func attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	a.Key = text(a.Key)
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(named(a.Key, a.Value.String()))
	case slog.KindGroup:
		a.Value = slog.GroupValue(all(a.Value.Group())...)
	case slog.KindAny:
		if a.Value.Any() == nil {
			break
		}
		a.Value = slog.StringValue(named(a.Key, fmt.Sprintf("%+v", a.Value.Any())))
	}
	return a
}

func text(s string) string {
	s, _ = redact.Text(s)
	return s
}

// named redacts a value, with what its name tells of it: the value of "token"
// goes where the same text under another name stays.
func named(key, value string) string {
	value = text(value)
	before := key + `="`
	if after, ok := strings.CutPrefix(text(before+value+`"`), before); ok {
		return strings.TrimSuffix(after, `"`)
	}
	return value
}
