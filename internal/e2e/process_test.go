package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a running process that carries the rig's data directory in its
// environment or command line, or that an agent's home names as its own.
type process struct {
	pid  int
	ppid int
	name string
	args []string
	env  map[string]string
}

func (p process) kill() error { return syscall.Kill(p.pid, syscall.SIGKILL) }

// processes lists what runs for this rig: found by what only this rig's
// processes carry in their environment, never by name alone.
func (r *rig) processes() []process {
	var out []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || len(env) == 0 {
			continue
		}
		ours := bytes.Contains(env, []byte(r.home)) || bytes.Contains(env, []byte(r.agents["codex"].Home)) || bytes.Contains(env, []byte(r.agents["claude"].Home))
		pid, _ := strconv.Atoi(filepath.Base(d))
		if !ours || pid == os.Getpid() {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(d, "stat"))
		if err != nil {
			continue
		}
		rest := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if rest[0] == "Z" {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		p := process{pid: pid, args: strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00"), env: map[string]string{}}
		p.ppid, _ = strconv.Atoi(rest[1])
		p.name = strings.Join(p.args, " ")
		for _, kv := range strings.Split(string(env), "\x00") {
			k, v, _ := strings.Cut(kv, "=")
			p.env[k] = v
		}
		out = append(out, p)
	}
	return out
}

// find returns the rig's processes that ok accepts.
func (r *rig) find(ok func(process) bool) []process {
	var out []process
	for _, p := range r.processes() {
		if ok(p) {
			out = append(out, p)
		}
	}
	return out
}

func isServer(p process) bool {
	return len(p.args) > 1 && strings.HasPrefix(p.args[0], plainBin) && p.args[1] == "serve"
}
func isShim(p process) bool { return len(p.args) > 1 && p.args[1] == "shim" }

// isAgent: a direct child of a shim, with the session's nonce.
func isAgent(p process) bool {
	return !isShim(p) && !isServer(p) && p.env["BATON_SESSION_NONCE"] != ""
}

// agents returns the agent processes: those whose parent is a shim.
func (r *rig) agentProcesses() []process {
	shims := map[int]bool{}
	for _, p := range r.find(isShim) {
		shims[p.pid] = true
	}
	return r.find(func(p process) bool { return isAgent(p) && shims[p.ppid] })
}

// killed sends SIGKILL to the processes and waits until they are gone.
func (r *rig) killed(list []process) {
	r.Helper()
	for _, p := range list {
		_ = p.kill()
	}
	for _, p := range list {
		r.gone(p)
	}
}

// gone waits until the process is no more (a zombie counts as gone).
func (r *rig) gone(p process) {
	r.Helper()
	r.until("the end of "+p.name, func() bool {
		for _, q := range r.processes() {
			if q.pid == p.pid {
				return false
			}
		}
		return true
	})
}

// until looks again and again, until ok or the limit. It is for things that send
// no signal, such as the process table; everything else waits for its signal.
func (r *rig) until(what string, ok func() bool) {
	r.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-r.ctx.Done():
			r.Fatalf("no %s within the limit; running: %v", what, r.processes())
		}
	}
}

// killServer kills the server and waits for its death.
func (r *rig) killServer() {
	r.Helper()
	servers := r.find(isServer)
	if len(servers) == 0 {
		r.Fatal("no server runs")
	}
	r.killed(servers)
}
