package failpoint

import (
	"os"
	"os/exec" // want process
)

var _ = os.Getenv("BATON_FAILPOINT")
var _ = exec.Command
