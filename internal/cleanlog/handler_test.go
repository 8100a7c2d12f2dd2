package cleanlog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"

	"baton/internal/cleanlog"
	"baton/internal/redact/redacttest"
)

type wrapped struct{ URL string }

func (w wrapped) Error() string { return "asked " + w.URL }

type late struct{ text string }

func (l late) LogValue() slog.Value { return slog.StringValue(l.text) }

// Wherever a secret stands in a record, it is not in the log, and its mark is.
func TestNoSecretGetsIntoTheLog(t *testing.T) {
	ways := map[string]func(log *slog.Logger, s string){
		"message":     func(log *slog.Logger, s string) { log.Info(s) },
		"attribute":   func(log *slog.Logger, s string) { log.Warn("m", "what", s) },
		"error":       func(log *slog.Logger, s string) { log.Error("m", "error", fmt.Errorf("ask: %w", wrapped{s})) },
		"joined":      func(log *slog.Logger, s string) { log.Error("m", "error", errors.Join(errors.New("a"), errors.New(s))) },
		"group":       func(log *slog.Logger, s string) { log.Info("m", slog.Group("g", slog.Group("h", "what", s))) },
		"struct":      func(log *slog.Logger, s string) { log.Info("m", "what", wrapped{s}) },
		"list":        func(log *slog.Logger, s string) { log.Info("m", "args", []string{"run", s}) },
		"late":        func(log *slog.Logger, s string) { log.Info("m", "what", late{s}) },
		"with":        func(log *slog.Logger, s string) { log.With("what", s).Info("m") },
		"with, group": func(log *slog.Logger, s string) { log.WithGroup("g").With("what", s).Info("m") },
		"key":         func(log *slog.Logger, s string) { log.Info("m", s, 1) },
		"log package": func(log *slog.Logger, s string) { slog.NewLogLogger(log.Handler(), slog.LevelWarn).Print(s) },
	}
	for way, put := range ways {
		for _, p := range redacttest.Plants(2) {
			for format, h := range handlers() {
				var b strings.Builder
				put(slog.New(cleanlog.New(h(&b))), p.Text)
				if left := redacttest.Left(b.String(), p.Secret); left != "" || !strings.Contains(b.String(), "[redacted:") {
					t.Errorf("%s, %s: %s in a %s leaves %q: %s", way, format, p.Issuer, p.Where, left, b.String())
				}
			}
		}
	}
}

func handlers() map[string]func(*strings.Builder) slog.Handler {
	return map[string]func(*strings.Builder) slog.Handler{
		"text": func(b *strings.Builder) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *strings.Builder) slog.Handler { return slog.NewJSONHandler(b, nil) },
	}
}

// The name of an attribute tells, and what is no secret stays as it is.
func TestNames(t *testing.T) {
	var b strings.Builder
	log := slog.New(cleanlog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	log.Info("serving", "token", "q7Zk2Xw9"+"Rb4Tn6Yc1V", "password", "Winter"+"2024", "tokens", 16000, "ok", true, "pid", 12, "error", nil, "dir", `a "b" c`,
		"thread", "thr_01a22e96-9e0a-7571-a44e-4913f99f172c")
	want := `level=INFO msg=serving token=[redacted:token] password=[redacted:password] tokens=16000 ok=true pid=12 error=<nil> dir="a \"b\" c" thread=thr_01a22e96-9e0a-7571-a44e-4913f99f172c` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

// It keeps what slog asks of a handler.
func TestContract(t *testing.T) {
	var b strings.Builder
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		return cleanlog.New(slog.NewJSONHandler(&b, nil))
	}, func(t *testing.T) map[string]any {
		var m map[string]any
		if err := json.Unmarshal([]byte(b.String()), &m); err != nil {
			t.Fatal(err)
		}
		return m
	})
}
