package memory_test

import (
	"context"
	"errors"
	"testing"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
	"baton/internal/journal/memory"
)

func TestContract(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Journal { return memory.New(memory.Options{}) })
}

func TestFailAppend(t *testing.T) {
	full := errors.New("the disk is full")
	fail := map[int]error{2: full, 3: journal.ErrUnknown, 5: memory.ErrLost}
	j := memory.New(memory.Options{FailAppend: func(n int, u journal.Unit) error { return fail[n] }})
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	version := func() uint64 {
		l, err := j.Load(context.Background(), "thr_1")
		if err != nil {
			t.Fatal(err)
		}
		return l.Version
	}
	for _, step := range []struct {
		want error
		then uint64
	}{{full, 1}, {journal.ErrUnknown, 2}, {nil, 3}, {journal.ErrUnknown, 3}, {nil, 4}} {
		s.Version = version()
		if err := s.Append(j, s.Unit(baton.EventQueueResumed{})); !errors.Is(err, step.want) {
			t.Fatalf("got %v, want %v", err, step.want)
		}
		if got := version(); got != step.then {
			t.Fatalf("version %d after %v, want %d", got, step.want, step.then)
		}
	}
}
