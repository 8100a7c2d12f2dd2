// Package newdriver has no row in the table, and is pure all the same.
package newdriver

import (
	"os" // want pure

	"baton/internal/agent"
	"baton/internal/engine" // want layer
)

var _ = os.ReadFile
var _ agent.Driver
var _ = engine.New
