package lint

import "baton/internal/decide"

// Module is the path of this module and of its root package.
const Module = "baton"

// MaxLines is the longest that a Go file that is no test may be.
const MaxLines = 500

// pure lists the packages whose result depends on their input alone, and what
// of this module each may import beside the root package. From the standard
// library they may take what does no I/O. A package that is not listed here is
// free to import what it likes.
var pure = map[string][]string{
	"internal/decide":       {"internal/handoff"},
	"internal/owner":        {"internal/agent", "internal/decide", "internal/handoff", "internal/journal"},
	"internal/handoff":      {"internal/redact"},
	"internal/redact":       {},
	"internal/jsonl":        {},
	"internal/directive":    {},
	"internal/agent":        {},
	"internal/agent/codex":  {"internal/agent", "internal/jsonl"},
	"internal/agent/claude": {"internal/agent", "internal/jsonl"},
	"internal/agent/acp":    {"internal/agent", "internal/jsonl", "internal/directive"},
}

// driverImports is what a driver that has no row in pure may import: a new
// folder under internal/agent is pure until a row says otherwise.
var driverImports = []string{"internal/agent", "internal/jsonl"}

// evidenceFile is the one file of a driver that may read files: it looks up
// where the agent keeps its conversations whether a delivery has arrived
// (agent.EvidenceFinder). Step never calls it.
const evidenceFile = "evidence.go"

// impurePackages are those of the standard library that the pure core and the
// root package may not import: they reach the outside, or give another answer each time.
var impurePackages = []string{
	"crypto/rand", "database/sql", "embed", "io/ioutil", "log", "log/slog", "math/rand", "math/rand/v2", "net", "net/http",
	"net/rpc", "net/smtp", "os", "os/exec", "os/signal", "os/user", "plugin", "runtime/debug", "syscall", "unsafe",
}

// evidencePackages are those of impurePackages that an evidence file may import.
var evidencePackages = []string{"os"}

// clockCalls read a clock or wait for it.
var clockCalls = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker",
}

// processCalls start a process.
var processCalls = []string{"os.StartProcess", "syscall.ForkExec", "syscall.StartProcess", "syscall.Exec", "unix.Exec"}

// environmentCalls read flags or the environment, at once or by way of HOME.
var environmentCalls = []string{
	"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "os.Setenv", "os.Unsetenv", "os.Clearenv", "os.Args",
	"os.UserHomeDir", "os.UserConfigDir", "os.UserCacheDir", "syscall.Getenv", "syscall.Environ",
}

// sqlPackages talk to a database.
var sqlPackages = []string{"database/sql", "database/sql/driver", "modernc.org/sqlite"}

// support are packages that only tests use, beside those whose name ends in
// "test": rules about processes and the environment leave them alone, the rules
// about tests hold for them.
var support = []string{"internal/modelscript/harness"}

// Exception lets one package (and what lies below it) break one rule.
type Exception struct {
	Rule    string
	Package string
	Reason  string
}

// exceptions are all that there are.
var exceptions = []Exception{
	{Process.Name, "internal/shim", "it is what starts agents"},
	{Process.Name, "internal/checkpoint/git", "git is its store"},
	{Process.Name, "internal/agent/script", "the script agent is a process of its own, and runs the commands that a message names"},
	{Environment.Name, "cmd", "it is where flags and environment are read"},
	{Environment.Name, "internal/shim", "a shim is a process of its own; it hands its environment down and finds its nonce there"},
	{Environment.Name, "internal/failpoint", "a crash test arms a boundary in a process that it only starts"},
	{Environment.Name, "internal/agent/script", "the script agent is a process of its own"},
	{Layer.Name, "internal/agent/script", "the script agent is a process of its own, no driver's Step"},
	{Pure.Name, "internal/agent/script", "the script agent is a process of its own, no driver's Step"},
	{SQL.Name, "internal/journal/sqlite", "it is that store"},
}

// Document is a page that is generated from the code and committed.
type Document struct {
	Path   string        // in the repository
	Render func() string // what it has to be
}

// Documents are the generated pages. `make generate` writes them and the lint
// compares them.
var Documents = []Document{
	{Path: "docs/state_machine.md", Render: decide.StateMachine},
}
