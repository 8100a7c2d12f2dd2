package handoff

import (
	"baton/internal/decide" // want layer
	"baton/internal/redact"
	"golang.org/x/text/width" // want layer
)

var _ = decide.Decide
var _ = redact.Text
var _ = width.Fold
