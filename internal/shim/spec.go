package shim

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NonceEnv is the variable in the agent's environment that carries the nonce.
// Whatever the agent starts inherits it, so that Sweep finds it.
const NonceEnv = "BATON_SESSION_NONCE"

// shimNonceEnv marks the shim's own process, so that Alive can tell it from
// another one that got its number; the agent doesn't inherit it.
const shimNonceEnv = "BATON_SHIM_NONCE"

const (
	specFile    = "session.json"
	logFile     = "shim.log"
	lockFile    = "lock"
	maxSockPath = 103 // macOS has room for 104 bytes with the closing zero, Linux for 108
)

// Grace says how long each step of the stop ladder may take.
type Grace struct {
	Stdin time.Duration `json:"stdin"` // from closing stdin to SIGTERM
	Term  time.Duration `json:"term"`  // from SIGTERM to SIGKILL
}

// Spec is what a shim is told. Launch writes it to DIR/session.json; the shim
// takes Env out of that file once it has read it, since secrets lie in there.
type Spec struct {
	SessionID string   `json:"session_id"`
	Nonce     string   `json:"nonce"`         // random, unique to the session; at least 16 characters
	Argv      []string `json:"argv"`          // the agent; found on the PATH in Env, or by a path
	Env       []string `json:"env,omitempty"` // all of the agent's environment; NonceEnv is added
	Dir       string   `json:"dir"`           // the agent's working directory
	Socket    string   `json:"socket"`        // at most 103 bytes, in a directory of mode 0700

	SpoolCap int64         `json:"spool_cap"` // bytes not acknowledged before the agent is no longer read; 0 = 1 GiB
	MaxFrame int           `json:"max_frame"` // longest line in bytes; 0 = 64 MB, which is also the most
	Lease    time.Duration `json:"lease"`     // how long to live without a server, until Conn.Lease says otherwise; 0 = 10 min
	Grace    Grace         `json:"grace"`     // of the ladder that the shim begins by itself; 0 = 5 s each
}

func (s Spec) withDefaults() Spec {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if s.SpoolCap <= 0 {
		s.SpoolCap = 1 << 30
	}
	if s.MaxFrame <= 0 || s.MaxFrame > 64<<20 {
		s.MaxFrame = 64 << 20
	}
	set(&s.Lease, 10*time.Minute)
	set(&s.Grace.Stdin, 5*time.Second)
	set(&s.Grace.Term, 5*time.Second)
	return s
}

// check says what makes a specification unusable. A missing executable or
// directory is not its business: that is the agent's failure to start.
func (s Spec) check() error {
	bad := func(format string, args ...any) error {
		return &Error{CodeInvalid, fmt.Sprintf(format, args...)}
	}
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return bad("the agent's command is empty")
	case len(s.Nonce) < 16:
		return bad("the nonce needs at least 16 characters")
	case strings.ContainsAny(s.Nonce, "\x00="):
		return bad("the nonce can't be put into an environment")
	case !filepath.IsAbs(s.Socket):
		return bad("the socket %q is not an absolute path", s.Socket)
	case len(s.Socket) > maxSockPath:
		return bad("the socket's path has %d bytes, more than the %d that every system takes; use a shorter runtime directory", len(s.Socket), maxSockPath)
	}
	return nil
}

func writeSpec(dir string, s Spec) error {
	b, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, specFile)
	if err := os.WriteFile(path+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// ReadSpec reads the specification of a session directory. Its Env is empty
// once the shim has started.
func ReadSpec(dir string) (Spec, error) {
	b, err := os.ReadFile(filepath.Join(dir, specFile))
	if err != nil {
		return Spec{}, &Error{CodeInvalid, "the specification can't be read: " + err.Error()}
	}
	var s Spec
	if err := json.Unmarshal(b, &s); err != nil {
		return Spec{}, &Error{CodeInvalid, fmt.Sprintf("%s: %v", filepath.Join(dir, specFile), err)}
	}
	return s.withDefaults(), s.check()
}

// privateDir makes dir where it is missing, and refuses one that others can enter.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &Error{CodeInvalid, err.Error()}
	}
	info, err := os.Stat(dir)
	if err != nil {
		return &Error{CodeInvalid, err.Error()}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return &Error{CodeInvalid, fmt.Sprintf("%s has mode %04o; it must be closed to others (chmod 700)", dir, info.Mode().Perm())}
	}
	return nil
}
