// Package baton breaks its own rules.
package baton

import (
	"os"      // want root
	"os/exec" // want root; process
	"strings"

	"example.com/dependency" // want root
)

var _ = os.Stdout
var _ = exec.Command
var _ = strings.ToUpper
var _ = dependency.Name
