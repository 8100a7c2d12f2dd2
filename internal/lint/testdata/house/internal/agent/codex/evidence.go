package codex

import (
	"net/http" // want pure
	"os"
	"time"
)

var _ http.Client
var _ = os.ReadFile
var _ = os.Getenv("CODEX_HOME") // want environment
var _ = time.Now                // want pure
