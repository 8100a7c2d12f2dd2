package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"baton"
)

// builtAt is the time of the commit that was built, so that the same commit
// gives the same pages; nil where that is unknown.
func builtAt() *time.Time {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return nil
	}
	for _, s := range info.Settings {
		if t, err := time.Parse(time.RFC3339, s.Value); err == nil && s.Key == "vcs.time" {
			return &t
		}
	}
	return nil
}

// manCmd writes a manual page for each command, for packagers and `make man`.
func (a *app) manCmd() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "Write the manual pages", Hidden: true, Args: needs("DIR"), Example: "  baton man man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			root.InitDefaultCompletionCmd()
			head := &doc.GenManHeader{Title: "BATON", Section: "1", Source: "baton " + buildVersion(), Manual: "Baton", Date: builtAt()}
			err := os.MkdirAll(args[0], 0o755)
			if err == nil {
				err = doc.GenManTree(root, head, args[0])
			}
			if err != nil {
				return baton.Errorf(baton.CodeInvalid, "the manual pages can't be written").WithDetail("%v", err).WithHint("name a directory that you may write into")
			}
			fmt.Fprintln(a.out, "wrote the manual pages into "+args[0])
			return nil
		},
	}
}
