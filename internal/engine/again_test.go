package engine

import (
	"path/filepath"
	"testing"

	"baton"
)

// A command that comes again gets its first answer, also where it would be
// refused by now; its id for something else is a conflict.
func TestACommandComesAgain(t *testing.T) {
	e := newKeeping(t).a.e
	create := baton.Command{ID: "cmd_new", Thread: "thr_2", Actor: baton.ActorPerson,
		Data: baton.CommandCreateThread{Dir: filepath.Join(t.TempDir(), "none")}}
	first, err := e.Do(t.Context(), create)
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.Do(t.Context(), create)
	if err != nil || again.Thread != first.Thread {
		t.Errorf("%+v, %v; want %+v", again, err, first)
	}
	other := create
	other.ID = "cmd_other"
	if _, err := e.Do(t.Context(), other); err == nil {
		t.Fatal("a thread was made twice, so that the test shows nothing")
	}
	empty := create
	empty.Data = baton.CommandSend{Text: " "} // refused, whatever its id
	if _, err := e.Do(t.Context(), empty); baton.ErrorCode(err) != baton.CodeConflict {
		t.Errorf("the id for something else: %v", err)
	}
}
