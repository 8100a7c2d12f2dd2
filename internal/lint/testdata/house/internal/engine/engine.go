package engine

import (
	"database/sql" // want sql
	"flag"         // want environment
	"os"
	"os/exec" // want process
	"syscall"
	"time"
)

var _ = sql.Open
var _ = flag.Parse
var _ = exec.Command
var _ = os.Getenv("HOME")   // want environment
var _ = os.Args             // want environment
var home = os.UserHomeDir   // want environment
var start = os.StartProcess // want process
var fork = syscall.ForkExec // want process

func wait() { time.Sleep(time.Second) }
