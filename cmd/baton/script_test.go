package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/httpapi"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"baton": main, "knock": knockMain}) }

// TestScript tells in testdata/script what the program does at its edge. Each
// script has a data directory of its own in $BATON_HOME; agents and server are
// ended behind it.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "h")
			project := filepath.Join(env.WorkDir, "p")
			for _, dir := range []string{home, project} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
			}
			env.Setenv("BATON_HOME", home)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("USER", "tester")
			env.Cd = project
			env.Defer(func() { endAll(t, home) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":  cmdCode,
			"keep":  cmdKeep,
			"bytes": cmdBytes,
			"newer": cmdNewer,
			"gone":  cmdGone,
			"ends":  cmdEnds,
			"tty":   cmdTTY,
			"fits":  cmdFits,
		},
	})
}

// endAll ends what a script has left at work.
func endAll(t *testing.T, home string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := config.Find(map[string]string{"BATON_HOME": home}, os.Getuid())
	if err != nil {
		t.Error(err)
		return
	}
	c, _, err := client.Reachable(ctx, p.Socket)
	if err != nil {
		return // no server runs
	}
	defer c.Close()
	threads, err := client.All[httpapi.ThreadRow](ctx, c, "/api/threads", url.Values{"state": {"all"}})
	if err != nil {
		t.Error(err)
	}
	for _, th := range threads {
		if err := c.Post(ctx, client.Path("threads", th.ID, "stop"), nil, nil); err != nil {
			t.Error(err)
		}
		if err := sessionsGone(ctx, c, th.ID); err != nil {
			t.Error(err)
		}
	}
	if _, err := client.Stop(ctx, p); err != nil {
		t.Error(err)
	}
}

// cmdCode is `code N command…`: the command ends with exit status N.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// cmdKeep is `keep NAME [FIELD]`: puts stdout, or the first value of a JSON
// field in it, into a variable.
func cmdKeep(ts *testscript.TestScript, neg bool, args []string) {
	out := strings.TrimSpace(ts.ReadFile("stdout"))
	if len(args) == 2 {
		_, rest, ok := strings.Cut(out, `"`+args[1]+`": "`)
		if !ok {
			ts.Fatalf("no field %q in stdout", args[1])
		}
		out, _, _ = strings.Cut(rest, `"`)
	}
	ts.Setenv(args[0], out)
}

// cmdBytes is `bytes FILE QUOTED [TIMES]`: writes a Go string, repeated.
func cmdBytes(ts *testscript.TestScript, neg bool, args []string) {
	s, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	n := 1
	if len(args) == 3 {
		n, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(s, n)), 0o600))
}

// cmdNewer is `newer FILE`: makes a database look like one of a later version.
func cmdNewer(ts *testscript.TestScript, neg bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec("PRAGMA user_version = 9999")
	ts.Check(err)
	ts.Check(db.Close())
}

// cmdEnds is `ends THREAD`: waits until no session of the thread lives.
func cmdEnds(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := config.Find(map[string]string{"BATON_HOME": ts.Getenv("BATON_HOME")}, os.Getuid())
	ts.Check(err)
	c, _, err := client.Reachable(ctx, p.Socket)
	ts.Check(err)
	defer c.Close()
	ts.Check(sessionsGone(ctx, c, args[0]))
}

// cmdGone is `gone NAME=VALUE`: waits until no process is left that was started
// with the entry in its environment, the script's own apart.
func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	for _, pid := range withEnviron(args[0]) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has just ended
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
		unix.Close(fd)
		if n == 0 || err != nil && err != unix.EINTR {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			ts.Fatalf("process %d lives: %q", pid, cmdline)
		}
	}
}

func withEnviron(entry string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(b), "\x00"), entry) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
