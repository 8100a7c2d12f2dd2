//go:build linux || darwin

package shim

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestOutput(t *testing.T) {
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	out, err := Output(t.Context(), sh(`echo "$A"; echo err >&2`), []string{"A=1.2.3"})
	if err != nil || string(out) != "1.2.3\nerr\n" {
		t.Errorf("got %q, %v", out, err)
	}
	out, err = Output(t.Context(), sh("echo no; exit 3"), nil)
	if ErrorCode(err) != CodeLaunch || string(out) != "no\n" {
		t.Errorf("got %q, %v", out, err)
	}
	out, err = Output(t.Context(), sh("head -c 200000 /dev/zero"), []string{"PATH=/bin:/usr/bin"})
	if err != nil || len(out) != probeBytes {
		t.Errorf("got %d bytes, %v", len(out), err)
	}
	if _, err := Output(t.Context(), []string{"/no/such/program"}, nil); ErrorCode(err) != CodeLaunch {
		t.Errorf("got %v", err)
	}
}

func TestOutputEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Output(ctx, []string{"/bin/sh", "-c", "cat <&0; while :; do :; done"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestDaemonSaysThatItIsUp(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	said, pid, err := Daemon(t.Context(), "/bin/sh", []string{"-c", `echo up >&$1; echo "$1 $A"`, "x"}, []string{"A=b"}, log)
	if err != nil || string(said) != "up\n" || pid == 0 {
		t.Errorf("said %q, %d, %v", said, pid, err)
	}
	said, _, err = Daemon(t.Context(), "/bin/sh", []string{"-c", "exit 1"}, nil, log)
	if err != nil || strings.TrimSpace(string(said)) != "" {
		t.Errorf("said %q, %v", said, err)
	}
}
