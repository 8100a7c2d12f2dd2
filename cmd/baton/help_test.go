package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp: every command says what it does and shows an example of itself, and
// completes the ids that it takes.
func TestHelp(t *testing.T) {
	a := &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard, env: map[string]string{}}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Short == "" || c.Example == "" || !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("`%s` has no example of itself", c.CommandPath())
		}
		for _, id := range []string{" THREAD", " REQUEST", " HANDOFF", " SESSION"} {
			if strings.Contains(c.Use, id) && c.ValidArgsFunction == nil {
				t.Errorf("`%s` does not complete its%s", c.CommandPath(), id)
			}
		}
	}
	walk(a.root())
}
