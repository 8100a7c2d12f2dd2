package codex

import (
	"net" // want pure
	"net/url"
	"os" // want pure
	"time"

	"baton/internal/agent"
	"baton/internal/directive" // want layer
	"baton/internal/jsonl"
)

var _ net.Conn
var _ url.URL
var _ = os.ReadFile
var _ = time.Second
var _ agent.Driver
var _ = directive.Parse
var _ = jsonl.Line
