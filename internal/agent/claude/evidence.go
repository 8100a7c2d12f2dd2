package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"baton"
	"baton/internal/agent"
)

// FindEvidence reads the transcript of the conversation (claude 2.1.332:
// <config>/projects/<directory, non-alphanumerics as "-">/<id>.jsonl). It has a
// delivery as the uuid of a user entry, or, folded into a turn, as source_uuid of
// an attachment; records of the queue say nothing. A last line that was cut off
// is as good as absent: claude skips it when it resumes.
func (Driver) FindEvidence(q agent.EvidenceQuery) (baton.Verdict, string) {
	config := q.Env["CLAUDE_CONFIG_DIR"]
	if config == "" && q.Env["HOME"] != "" {
		config = filepath.Join(q.Env["HOME"], ".claude")
	}
	if config == "" || q.NativeID == "" || strings.ContainsAny(q.NativeID, `/\*?[`) {
		return baton.VerdictUnknown, "where claude keeps the conversation is not known"
	}
	files, err := transcripts(filepath.Join(config, "projects"), q.Dir, q.NativeID)
	if err != nil {
		return baton.VerdictUnknown, "the conversations of claude can't be looked through: " + err.Error()
	}
	if len(files) == 0 {
		if q.New {
			return baton.VerdictHasNot, "the new conversation has no transcript yet"
		}
		return baton.VerdictUnknown, "the transcript of the conversation was not found"
	}
	for _, file := range files {
		where, err := inTranscript(file, baton.UUID(q.Delivery))
		if err != nil {
			return baton.VerdictUnknown, "the transcript can't be read: " + err.Error()
		}
		if where != "" {
			return baton.VerdictHas, where
		}
	}
	return baton.VerdictHasNot, "the transcript does not have it"
}

// transcripts finds the conversation's file: under the working directory's name,
// under that of its real path, else under any. None is no error.
func transcripts(projects, dir, id string) ([]string, error) {
	dirs := []string{dir}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil && resolved != dir {
		dirs = append(dirs, resolved)
	}
	for _, d := range dirs {
		file := filepath.Join(projects, projectName(d), id+".jsonl")
		if _, err := os.Stat(file); err == nil {
			return []string{file}, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	entries, err := os.ReadDir(projects)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		file := filepath.Join(projects, e.Name(), id+".jsonl")
		if _, err := os.Stat(file); err == nil {
			found = append(found, file)
		} else if e.IsDir() && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return found, nil
}

// projectName is how claude names the folder of a directory. It shortens very
// long names, which are then found by the conversation's id.
func projectName(dir string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, dir)
}

// inTranscript says where the file has the uuid, or "".
func inTranscript(file, uuid string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	quoted, _ := json.Marshal(uuid)
	for r := bufio.NewReaderSize(f, 1<<16); ; {
		line, err := r.ReadBytes('\n')
		if bytes.Contains(line, quoted) {
			var e struct {
				Type       string `json:"type"`
				UUID       string `json:"uuid"`
				Attachment struct {
					Source string `json:"source_uuid"`
				} `json:"attachment"`
			}
			switch {
			case !loose(line, &e):
			case e.Type == "user" && e.UUID == uuid:
				return "user entry in the transcript", nil
			case e.Attachment.Source == uuid:
				return "attachment in the transcript", nil
			}
		}
		if err == io.EOF {
			return "", nil
		}
		if err != nil {
			return "", err
		}
	}
}
