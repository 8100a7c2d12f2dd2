package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
	"baton/internal/journal/sqlite"
)

func (a *app) exportCmd() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "export THREAD",
		Short: "Write a whole thread as Markdown, or with --json as JSON",
		Long: `Write a whole thread: as Markdown for people, or with --json as all documents that
there are of it. Secrets are taken out of both, and counted. No agent is needed.`,
		Example:           "  baton export 44a913f1 -o parser.md\n  baton export THREAD --json | jq '.documents.run | length'",
		Args:              needs("THREAD"),
		ValidArgsFunction: a.completeThreadsIn("all"),
		RunE: a.withServer(func(ctx context.Context, c *client.Client, args []string) error {
			q := url.Values{}
			if a.json {
				q.Set("format", "json")
			}
			var e httpapi.Export
			if err := c.Get(ctx, client.Path("threads", args[0], "export"), q, &e); err != nil {
				return err
			}
			text := []byte(e.Markdown)
			if a.json {
				var b bytes.Buffer
				if err := json.Indent(&b, e.Document, "", "  "); err != nil {
					return err
				}
				b.WriteByte('\n')
				text = b.Bytes()
			}
			if err := a.writeExport(file, text); err != nil {
				return err
			}
			if e.Redactions > 0 {
				fmt.Fprintf(a.err, "note: %d secrets were taken out\n", e.Redactions)
			}
			return nil
		}),
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write, which must not be there yet (default: standard output)")
	return cmd
}

func (a *app) writeExport(file string, text []byte) error {
	if file == "" || file == "-" {
		return a.exact(string(text))
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return baton.Errorf(baton.CodeConflict, "the file %s is there already", file).WithDetail("nothing was written").WithHint("name a new file")
	}
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return baton.Errorf(baton.CodeInvalid, "the file %s can't be written", file).WithDetail("%v", err).WithHint("see to its directory, or name another file")
	}
	fmt.Fprintln(a.err, "wrote "+file)
	return nil
}

func (a *app) backupCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "backup [FILE]",
		Short: "Write a copy of the database into a new file, at any time",
		Long: `Write a copy of the database into a new file that you alone can read. It is of one
moment, complete and on the disk when the command ends. A running server goes on
meanwhile; where none runs, none is started. The index of the search is not in it:
it is made again. Agents' own conversations lie where agents keep them.

To restore: end the server, put the file in the place of baton.db and remove the
files baton.db-wal and baton.db-shm beside it.`,
		Example: "  baton backup\n  baton backup /media/disk/baton-monday.db",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "baton-" + time.Now().Format("20060102-150405") + ".db"
			if len(args) == 1 {
				file = args[0]
			}
			file, err := filepath.Abs(file)
			if err != nil {
				return baton.Errorf(baton.CodeInvalid, "the file %q can't be used", file).WithDetail("%v", err)
			}
			if err := a.backup(cmd.Context(), file); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(httpapi.BackupInfo{File: file})
			}
			fmt.Fprintln(a.out, file)
			return nil
		},
	}
}

// backup asks the running server, or holds the data itself where none runs.
func (a *app) backup(ctx context.Context, file string) error {
	p, err := a.places()
	if err != nil {
		return err
	}
	c, _, err := client.Reachable(ctx, p.Socket)
	switch {
	case err == nil:
		defer c.Close()
		return c.Post(ctx, "/api/backup", map[string]string{"file": file}, nil)
	case baton.ErrorCode(err) != baton.CodeServerUnreachable:
		return err
	}
	if _, err := os.Stat(p.Database); errors.Is(err, os.ErrNotExist) {
		return baton.Errorf(baton.CodeNotFound, "there is no database to back up").WithDetail("%s is not there", p.Database).WithHint("`baton new` makes the first thread")
	}
	unlock, err := lockData(p)
	if err != nil {
		return err
	}
	defer unlock()
	return sqlite.Backup(ctx, p.Database, file)
}
