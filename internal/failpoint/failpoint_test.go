package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("FAILPOINT_CHILD") != "" {
		Hit("other")
		Hit("here")
		Hit("here")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestEnvironmentKills(t *testing.T) {
	for spec, want := range map[string]syscall.Signal{
		"here": syscall.SIGKILL, "here:2": syscall.SIGKILL, "here:3": 0, "nowhere": 0,
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FAILPOINT_CHILD=1", Env+"="+spec)
		err := cmd.Run()
		var exit *exec.ExitError
		got := syscall.Signal(0)
		if errors.As(err, &exit) {
			if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
				got = ws.Signal()
			}
		}
		if got != want {
			t.Errorf("%s: ended by %v (%v), want %v", spec, got, err, want)
		}
	}
}

func TestMisspeltPointIsAnError(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAILPOINT_CHILD=1", Env+"=here:often")
	if err := cmd.Run(); err == nil {
		t.Error("a count that is no number was taken")
	}
}

func TestArmInProcess(t *testing.T) {
	hits := 0
	disarm, err := Arm("p:2", func() { hits++ })
	if err != nil {
		t.Fatal(err)
	}
	Hit("p")
	if hits != 0 {
		t.Fatal("acted on the first hit")
	}
	Hit("p")
	Hit("p")
	if hits != 1 {
		t.Fatalf("acted %d times, want once", hits)
	}
	disarm()
	for _, bad := range []string{"", ":1", "p:0", "p:x"} {
		if _, err := Arm(bad, func() {}); err == nil {
			t.Errorf("Arm(%q) was taken", bad)
		}
	}
}
