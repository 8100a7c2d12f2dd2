// Command baton is one conversation that any coding agent can carry: server,
// command line, and the small processes that hold the agents, in one binary.
// All flags, environment and wiring are here; everything else gets what it
// needs handed in.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

// version is set when a release is built.
var version = ""

func main() { os.Exit(mainExit()) }

func mainExit() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	mark := newMark()
	a := &app{in: os.Stdin, out: &screen{w: os.Stdout, mark: mark}, err: &screen{w: os.Stderr, mark: mark}, self: self, env: environ(os.Environ()), uid: os.Getuid(),
		tty: isTerminal(os.Stdout)}
	return a.execute(ctx, os.Args[1:])
}

func environ(list []string) map[string]string {
	env := map[string]string{}
	for _, kv := range list {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	return env
}

// buildVersion is what `baton --version` and the handshakes say.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
