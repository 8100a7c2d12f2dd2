package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	files, err := transcripts(q.Env, q.Dir, q.NativeID)
	if err != nil {
		return baton.VerdictUnknown, err.Error()
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

// FindForeign counts the prompts in the transcript whose uuid is no delivery of
// ours. A prompt is a user entry with a promptSource, "typed" or "sdk" (claude
// 2.1.332); results of tools, summaries, interrupts and commands have none, and
// work in the background that ends has "system".
func (Driver) FindForeign(q agent.ForeignQuery) (int, error) {
	files, err := transcripts(q.Env, q.Dir, q.NativeID)
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, errors.New("the transcript of the conversation was not found")
	}
	n := 0
	for _, file := range files {
		err := eachEntry(file, []byte(`"promptSource"`), func(e entry) bool {
			if e.Type == "user" && !e.Meta && !e.Side && e.Prompt != "" && e.Prompt != "system" &&
				!q.Ours(baton.DeliveryID(baton.PrefixDelivery+"_"+e.UUID)) {
				n++
			}
			return true
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// transcripts finds the conversation's file: under the working directory's name,
// under that of its real path, else under any. None is no error.
func transcripts(env map[string]string, dir, id string) ([]string, error) {
	config := env["CLAUDE_CONFIG_DIR"]
	if config == "" && env["HOME"] != "" {
		config = filepath.Join(env["HOME"], ".claude")
	}
	if config == "" || id == "" || strings.ContainsAny(id, `/\*?[`) {
		return nil, errors.New("where claude keeps the conversation is not known")
	}
	files, err := search(filepath.Join(config, "projects"), dir, id)
	if err != nil {
		return nil, fmt.Errorf("the conversations of claude can't be looked through: %w", err)
	}
	return files, nil
}

func search(projects, dir, id string) ([]string, error) {
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

// entry is a line of a transcript, as far as it counts here.
type entry struct {
	Type       string `json:"type"`
	UUID       string `json:"uuid"`
	Meta       bool   `json:"isMeta"`
	Side       bool   `json:"isSidechain"` // of a subagent
	Prompt     string `json:"promptSource"`
	Attachment struct {
		Source string `json:"source_uuid"`
	} `json:"attachment"`
}

// inTranscript says where the file has the uuid, or "".
func inTranscript(file, uuid string) (where string, err error) {
	quoted, _ := json.Marshal(uuid)
	err = eachEntry(file, quoted, func(e entry) bool {
		switch {
		case e.Type == "user" && e.UUID == uuid:
			where = "user entry in the transcript"
		case e.Attachment.Source == uuid:
			where = "attachment in the transcript"
		}
		return where == ""
	})
	return where, err
}

// eachEntry gives the lines of a transcript that hold a text, until see says
// that it is enough. What is no JSON is left out, as claude does.
func eachEntry(file string, holding []byte, see func(entry) bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for r := bufio.NewReaderSize(f, 1<<16); ; {
		line, err := r.ReadBytes('\n')
		var e entry
		if bytes.Contains(line, holding) && loose(line, &e) && !see(e) {
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
