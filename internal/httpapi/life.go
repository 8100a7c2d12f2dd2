package httpapi

import (
	"context"
	"net/http"
	"path/filepath"

	"baton"
)

type renameBody struct {
	CommandBody
	Title string `json:"title" doc:"one line"`
}

type backupBody struct {
	File string `json:"file" doc:"absolute path of the file to make"`
}

// BackupInfo is a backup that was made.
type BackupInfo struct {
	File string `json:"file"`
}

// life registers what becomes of threads. All of it may be asked for again: what
// is so already is answered as if it had just been done.
func (s *Server) life() {
	type renameIn struct {
		ThreadPath
		Body renameBody
	}
	commandBy(s, http.MethodPatch, "/api/threads/{thread}", "rename-thread", "Give a thread another title", func(ctx context.Context, in *renameIn) (Thread, error) {
		return s.changed(ctx, in.Thread, in.Body.CommandBody, baton.CommandRenameThread{Title: in.Body.Title})
	})
	type plainIn struct {
		ThreadPath
		Body CommandBody `required:"false"`
	}
	for _, c := range []struct {
		name, summary string
		data          baton.CommandData
	}{
		{"archive", "Take a thread out of the list; it stays readable", baton.CommandArchiveThread{}},
		{"unarchive", "Put an archived thread back into the list", baton.CommandUnarchiveThread{}},
		{"delete", "Hide a thread that takes no message any more; nothing of it is destroyed", baton.CommandDeleteThread{}},
		{"undelete", "Bring a deleted thread back", baton.CommandUndeleteThread{}},
	} {
		command(s, "/api/threads/{thread}/"+c.name, c.name+"-thread", c.summary, func(ctx context.Context, in *plainIn) (Thread, error) {
			return s.changed(ctx, in.Thread, in.Body, c.data)
		})
	}
	command(s, "/api/backup", "backup", "Write the journal into a new file while the server runs", func(ctx context.Context, in *struct{ Body backupBody }) (BackupInfo, error) {
		out := BackupInfo{File: in.Body.File}
		switch {
		case s.cfg.Backup == nil:
			return out, baton.Errorf(baton.CodeUnsupported, "this server keeps nothing that could be backed up").WithHint("start one with `baton serve`")
		case !filepath.IsAbs(in.Body.File):
			return out, baton.Errorf(baton.CodeInvalid, "the file %q is not an absolute path", in.Body.File).WithHint("name the file from the root on")
		}
		return out, s.cfg.Backup(ctx, in.Body.File)
	})
}

// changed gives a command to a thread and returns the thread as it then is.
func (s *Server) changed(ctx context.Context, id string, c CommandBody, data baton.CommandData) (Thread, error) {
	reply, err := s.onThread(ctx, id, c, data)
	if err != nil {
		return Thread{}, err
	}
	return thread(ctx, s.cfg.Engine.Journal(), string(reply.Thread), 0)
}
