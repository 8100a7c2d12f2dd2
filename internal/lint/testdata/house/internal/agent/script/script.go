package script

import (
	"os"
	"os/exec"
	"time"

	"baton/internal/directive"
	"baton/internal/jsonl"
)

var _ = exec.Command(os.Getenv("SHELL"))
var _ = time.Now
var _ = directive.Parse
var _ = jsonl.Line
