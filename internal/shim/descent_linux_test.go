package shim

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

// child starts a process below this one that ends when its input does.
func child(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("cat")
	cmd.Env = env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	if _, err := in.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it runs, with its own environment
		t.Fatal(err)
	}
	return cmd
}

func TestHeld(t *testing.T) {
	if held, err := Held(os.Getpid()); held || err != nil {
		t.Errorf("this process: %v %v", held, err)
	}
	plain, session, shim := child(t), child(t, NonceEnv+"=x"), child(t, shimNonceEnv+"=x")
	now, err := HeldNow()
	if err != nil {
		t.Fatal(err)
	}
	for name, pid := range map[string]int{"below this process": plain.Process.Pid, "with a session's mark": session.Process.Pid, "a shim": shim.Process.Pid} {
		if held, err := Held(pid); !held || err != nil {
			t.Errorf("%s: %v %v", name, held, err)
		}
		if !now[pid] {
			t.Errorf("%s: not in the list", name)
		}
	}
	if now[os.Getpid()] || now[os.Getppid()] {
		t.Error("this process or the one above it is in the list")
	}
	if !hasMark(session.Process.Pid) || !hasMark(shim.Process.Pid) || hasMark(plain.Process.Pid) {
		t.Error("a mark is not seen, or seen where none is")
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := Held(gone.Process.Pid); err == nil {
		t.Error("a process that is gone is told about")
	}
}
