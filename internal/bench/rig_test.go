package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"baton"
	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/httpapi"
)

var (
	binary string // the baton that is measured
	table  []Row
)

// agentVar makes this test binary the agent of agent_test.go.
const agentVar = "BATON_BENCH_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentVar) != "" {
		stampingAgent(os.Stdin, os.Stdout)
		return
	}
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		os.Exit(m.Run())
	}
	os.Exit(measure(m))
}

// measure builds the binary, runs the benchmarks and prints the table.
func measure(m *testing.M) int {
	dir, err := os.MkdirTemp("", "baton-bench")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "baton")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, "baton/cmd/baton").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	fmt.Println()
	_ = Print(os.Stdout, table)
	return code
}

func report(r Row) { table = append(table, r) }

// under reports a value that has to stay under a budget; the ratio is of the two.
func under(name, value, versus string, got, budget time.Duration) {
	report(Row{Name: name, Value: value, Versus: versus, Ratio: ratio(float64(got), float64(budget)), Budget: "≤ " + show(budget), Over: got > budget})
}

// server is a server process with a data directory of its own.
type server struct {
	*testing.B
	ctx     context.Context
	home    string
	project string
	config  string
	places  config.Places
	cmd     *exec.Cmd
	*client.Client
}

// limit bounds every wait; it is for hangs.
const limit = 2 * time.Minute

// newServer makes a data directory with the configuration; start starts it.
func newServer(b *testing.B, toml string) *server {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	b.Cleanup(cancel)
	s := &server{B: b, ctx: ctx, home: b.TempDir(), project: b.TempDir()}
	s.config = toml
	if err := os.WriteFile(filepath.Join(s.home, "config.toml"), []byte(s.config), 0o600); err != nil {
		b.Fatal(err)
	}
	var err error
	if s.places, err = config.Find(map[string]string{"BATON_HOME": s.home, "HOME": s.home}, os.Getuid()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.end)
	return s
}

// start starts the server and returns how long it took to the first answer.
func (s *server) start() time.Duration {
	s.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	s.cmd = exec.Command(binary, "serve", "--ready-fd", "3")
	s.cmd.Env = []string{"BATON_HOME=" + s.home, "HOME=" + s.home, "PATH=" + os.Getenv("PATH")}
	s.cmd.Dir, s.cmd.ExtraFiles, s.cmd.Stderr = s.project, []*os.File{out}, os.Stderr
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	out.Close()
	said, _ := io.ReadAll(in)
	in.Close()
	if string(said) != client.Ready {
		s.Fatalf("the server said %q", said)
	}
	s.Client = client.New(s.places.Socket)
	var p httpapi.Page[httpapi.ThreadRow]
	if err := s.Get(s.ctx, "/api/threads", url.Values{"limit": {"50"}}, &p); err != nil {
		s.Fatal(err)
	}
	return time.Since(began)
}

// stop ends the server; agents stay with their shims.
func (s *server) stop() {
	s.Helper()
	if s.cmd == nil {
		return
	}
	s.Client.Close()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	s.cmd = nil
}

// end stops the server and ends what carries the data directory in its
// environment or command line: shims and agents.
func (s *server) end() {
	s.stop()
	for _, pid := range s.processes("") {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// killed ends a process of this server and waits until it is gone.
func (s *server) killed(pid int) {
	s.Helper()
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for syscall.Kill(pid, 0) == nil && s.ctx.Err() == nil {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		<-time.After(time.Millisecond) // a process that is no child of ours gives no sign
	}
}

// processes are this server's, itself left out, whose first argument is arg ("" for any).
func (s *server) processes(arg string) []int {
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, _ := os.ReadFile(filepath.Join(d, "environ"))
		line, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		var pid int
		_, _ = fmt.Sscan(filepath.Base(d), &pid)
		args := strings.Split(string(line), "\x00")
		if pid == os.Getpid() || !strings.Contains(string(env)+string(line), s.home) || len(args) < 2 || args[1] == "serve" || arg != "" && args[1] != arg {
			continue
		}
		out = append(out, pid)
	}
	return out
}

func provider(name, driver string, command []string, env map[string]string, further string) string {
	t := fmt.Sprintf("[providers.%s]\ndriver = %q\n", name, driver)
	if command != nil {
		list, _ := json.Marshal(command)
		t += "command = " + string(list) + "\n"
	}
	t += further + fmt.Sprintf("\n[providers.%s.env]\n", name)
	for k, v := range env {
		t += fmt.Sprintf("%s = %q\n", k, v)
	}
	return t
}

// thread makes a thread.
func (s *server) thread(provider string) string {
	s.Helper()
	var t httpapi.Thread
	if err := s.Post(s.ctx, "/api/threads", map[string]string{"dir": s.project, "provider": provider}, &t); err != nil {
		s.Fatal(err)
	}
	return t.ID
}

// send gives the thread a message.
func (s *server) send(thread, provider, text string) baton.Reply {
	s.Helper()
	var r baton.Reply
	if err := s.Post(s.ctx, client.Path("threads", thread, "messages"), map[string]string{"text": text, "provider": provider}, &r); err != nil {
		s.Fatal(err)
	}
	return r
}

// arrival is a message of a stream with the time of its coming.
type arrival struct {
	client.Message
	at time.Time
}

// follow subscribes to a thread from its newest event on; what comes is sent to
// the channel. It returns when the subscription is live.
func (s *server) follow(thread string) <-chan arrival {
	s.Helper()
	out := make(chan arrival, 1<<14)
	live := make(chan error, 1)
	go func() {
		caught := false
		err := s.Stream(s.ctx, thread, 0, func(m client.Message) error {
			switch {
			case m.CaughtUp != nil && !caught:
				caught = true
				live <- nil
			case caught:
				out <- arrival{m, time.Now()}
			}
			return nil
		})
		if !caught {
			live <- err
		}
	}()
	if err := <-live; err != nil {
		s.Fatal(err)
	}
	return out
}

// until returns the first event of the type, with what came before it.
func (s *server) until(c <-chan arrival, kind string) (found arrival, before []arrival) {
	s.Helper()
	for {
		select {
		case a := <-c:
			if a.Event != nil && a.Event.Type == kind {
				if kind == "run.ended" {
					var d struct {
						Status string
						Error  *baton.Error
					}
					if err := json.Unmarshal(a.Event.Data, &d); err != nil || d.Status != string(baton.RunCompleted) {
						s.Fatalf("a run has ended: %s", a.Event.Data)
					}
				}
				return a, before
			}
			before = append(before, a)
		case <-s.ctx.Done():
			s.Fatalf("no %s; %v", kind, errors.Join(s.ctx.Err(), s.log()))
		}
	}
}

// log is the end of the server's log, as an error.
func (s *server) log() error {
	b, _ := os.ReadFile(s.places.Log)
	return errors.New(string(b[max(0, len(b)-2000):]))
}
