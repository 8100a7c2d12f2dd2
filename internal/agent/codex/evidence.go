package codex

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
	"regexp"
	"strings"

	"baton"
	"baton/internal/agent"
)

// Where codex 0.171.0 keeps a conversation: lines in
//
//	$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl
//	$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>_<segment>.jsonl
//
// A revert begins a new segment whose session_meta names the segment that it
// goes on from and the ordinal up to which; lines of that one beyond the
// ordinal are no longer part of the conversation. A fork does the same with a
// segment of another thread. Names are UUIDv7, so the greatest is the newest.
//
// A handoff is a response_item with the id that we gave. A message is an
// item_completed whose client_id is its delivery; that line follows the one
// with the text, so between the two the text alone is there.

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// maxSegments bounds a chain of segments.
const maxSegments = 100

// FindEvidence looks for a delivery in the rollout files of the conversation.
func (Driver) FindEvidence(q agent.EvidenceQuery) (baton.Verdict, string) {
	if !uuidForm.MatchString(q.NativeID) {
		return baton.VerdictUnknown, "the conversation has no id of codex"
	}
	home := q.Env["CODEX_HOME"]
	if home == "" && q.Env["HOME"] != "" {
		home = filepath.Join(q.Env["HOME"], ".codex")
	}
	if home == "" {
		return baton.VerdictUnknown, "codex's directory is not known"
	}
	rollouts := map[string]string{} // segment → file
	newest, err := findRollouts(home, q.NativeID, rollouts)
	switch {
	case err != nil:
		return baton.VerdictUnknown, err.Error()
	case newest == "" && q.New:
		return baton.VerdictHasNot, "codex has not begun to store the conversation"
	case newest == "":
		return baton.VerdictUnknown, "the rollout of the conversation is gone"
	}
	return followRollout(rollouts, newest, q.Delivery)
}

// findRollouts notes all rollout files under home by segment and returns the
// newest segment of the thread, or "" where there is none.
func findRollouts(home, thread string, rollouts map[string]string) (newest string, err error) {
	if _, err := os.Stat(home); err != nil {
		return "", fmt.Errorf("codex's directory can't be read: %w", err)
	}
	for _, dir := range []string{"sessions", "archived_sessions"} {
		err := filepath.WalkDir(filepath.Join(home, dir), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			name := d.Name()
			if d.IsDir() || !strings.HasPrefix(name, "rollout-") {
				return nil
			}
			ofThread := strings.Contains(name, thread)
			name, ok := strings.CutSuffix(name, ".jsonl")
			if !ok {
				if ofThread {
					return fmt.Errorf("the rollout is stored in a form that can't be read: %s", d.Name())
				}
				return nil
			}
			segment := name[max(0, len(name)-36):]
			rollouts[segment] = path
			if ofThread && segment > newest {
				newest = segment
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return newest, nil
}

// followRollout looks through the newest segment and what it goes on from.
func followRollout(rollouts map[string]string, segment string, d baton.DeliveryID) (baton.Verdict, string) {
	limit := int64(-1)
	unclear := ""
	for range maxSegments {
		path, ok := rollouts[segment]
		if !ok {
			return baton.VerdictUnknown, "a part of the conversation is missing: " + segment
		}
		found, err := scanRollout(path, d, limit)
		if err != nil {
			return baton.VerdictUnknown, err.Error()
		}
		if found.evidence != "" {
			return baton.VerdictHas, found.evidence
		}
		if unclear == "" && limit < 0 {
			unclear = found.unclear
		}
		if found.base == nil {
			if unclear != "" {
				return baton.VerdictUnknown, unclear
			}
			return baton.VerdictHasNot, "not in the rollout of the conversation"
		}
		segment, limit = found.base.Segment, found.base.End
	}
	return baton.VerdictUnknown, "the conversation goes through too many files"
}

type historyBase struct {
	Segment string `json:"thread_id"` // a segment's, in spite of its name
	End     int64  `json:"end_ordinal_exclusive"`
}

type rolloutLine struct {
	Ordinal *int64 `json:"ordinal"`
	Type    string `json:"type"`
	Payload struct {
		Type   string       `json:"type"`
		ID     string       `json:"id"`
		Role   string       `json:"role"`
		TurnID string       `json:"turn_id"`
		Base   *historyBase `json:"history_base"`
		Item   struct {
			Type     string `json:"type"`
			ClientID string `json:"client_id"`
		} `json:"item"`
		Passed struct {
			TurnID string   `json:"turn_id"`
			Kinds  []string `json:"content_item_kinds"`
		} `json:"internal_chat_message_metadata_passthrough"`
	} `json:"payload"`
}

type finding struct {
	evidence string
	unclear  string // why a message may be there all the same
	base     *historyBase
}

// scanRollout reads one segment up to the ordinal limit, or to its end where
// limit is negative.
func scanRollout(path string, d baton.DeliveryID, limit int64) (finding, error) {
	var found finding
	f, err := os.Open(path)
	if err != nil {
		return found, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	turn, text := "", false // the newest turn, and whether it has a text without an id
	for n := 0; ; n++ {
		raw, readErr := r.ReadBytes('\n')
		var l rolloutLine
		if len(bytes.TrimSpace(raw)) > 0 {
			if err := json.Unmarshal(raw, &l); err != nil && readErr != nil {
				found.unclear = "the rollout ends in the middle of a line"
			} else if err != nil || l.Ordinal == nil {
				return found, fmt.Errorf("line %d of the rollout can't be read", n+1)
			}
			if limit >= 0 && l.Ordinal != nil && *l.Ordinal >= limit {
				return found, nil
			}
		}
		p := l.Payload
		switch {
		case l.Type == "session_meta" && p.Base != nil:
			found.base = p.Base
		case l.Type == "response_item" && p.ID == itemID(d):
			found.evidence = "the item " + p.ID + " is in the rollout"
			return found, nil
		case l.Type == "event_msg" && p.Type == "item_completed" && p.Item.Type == "UserMessage":
			if p.Item.ClientID == string(d) {
				found.evidence = "the message with this client id is in the rollout"
				return found, nil
			}
			text = false
		case l.Type == "event_msg" && p.Type == "task_started":
			turn, text = p.TurnID, false
		case l.Type == "response_item" && p.Role == "user" && turn != "" && p.Passed.TurnID == turn &&
			strings.HasPrefix(strings.Join(p.Passed.Kinds, ""), "user."):
			text = true
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return found, readErr
		}
	}
	if text && found.unclear == "" {
		found.unclear = "the rollout ends with a message that has no id yet"
	}
	return found, nil
}
