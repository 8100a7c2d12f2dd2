package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"baton/internal/client"
	"baton/internal/httpapi"
)

// lifeCmds are what becomes of threads.
func (a *app) lifeCmds() []*cobra.Command {
	return []*cobra.Command{
		a.renameCmd(),
		a.lifeCmd("archive", "archived", "Take threads out of the list; they stay readable and searchable",
			`Take threads out of the list. An archived thread can be read, searched and exported
like any other, and takes no message until it is unarchived. A thread that is at
work is refused: stop it first. Its idle agents are ended.`),
		a.lifeCmd("unarchive", "back in the list", "Put archived threads back into the list",
			`Put archived threads back into the list. They go on where they were.`),
		a.lifeCmd("delete", "deleted", "Hide threads for good, or until they are undeleted",
			`Hide threads. A deleted thread is in no list and no search, and takes no message.
Nothing of it is destroyed: it can be shown by its id, and undeleted. A thread that
is at work is refused: stop it first. Its idle agents are ended.`),
		a.lifeCmd("undelete", "back", "Bring deleted threads back",
			`Bring deleted threads back as they were: in the list, or archived.`),
	}
}

func (a *app) renameCmd() *cobra.Command {
	id := ""
	cmd := &cobra.Command{
		Use:               "rename THREAD TITLE",
		Short:             "Give a thread another title",
		Example:           "  baton rename 44a913f1 \"Faster parser\"",
		Args:              needs("THREAD", "TITLE"),
		ValidArgsFunction: a.completeThreads,
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			p := a.plain(id)
			var t httpapi.Thread
			err := c.Patch(ctx, client.Path("threads", args[0]), map[string]string{"command_id": p.CommandID, "author": p.Author, "title": args[1]}, &t)
			if err != nil {
				return err
			}
			return a.became(t, t.Title)
		}),
	}
	cmd.Flags().StringVar(&id, "command-id", "", "id of this command")
	return cmd
}

func (a *app) lifeCmd(name, done, short, long string) *cobra.Command {
	state := map[string]string{"archive": "active", "unarchive": "archived", "delete": "all", "undelete": "deleted"}[name]
	return &cobra.Command{
		Use:               name + " THREAD…",
		Short:             short,
		Long:              long + "\n\nWhat is so already is no error.",
		Example:           fmt.Sprintf("  baton %s 44a913f1", name),
		Args:              needsSome("THREAD"),
		ValidArgsFunction: a.completeThreadsIn(state),
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			threads := []httpapi.Thread{}
			for _, id := range args {
				var t httpapi.Thread
				if err := c.Post(ctx, client.Path("threads", id, name), a.plain(""), &t); err != nil {
					return err
				}
				threads = append(threads, t)
				if !a.json {
					fmt.Fprintf(a.out, "%s  %s  %s\n", shortID(t.ID), done, printable(t.Title))
				}
			}
			if a.json {
				return a.printJSON(threads)
			}
			return nil
		}),
	}
}

func (a *app) became(t httpapi.Thread, what string) error {
	if a.json {
		return a.printJSON(t)
	}
	fmt.Fprintf(a.out, "%s  %s\n", shortID(t.ID), printable(what))
	return nil
}
