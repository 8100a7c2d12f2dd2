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
	"slices"
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
	c, err := findConversation(q.NativeID, q.Env)
	switch {
	case err != nil:
		return baton.VerdictUnknown, err.Error()
	case c.newest == "" && q.New:
		return baton.VerdictHasNot, "codex has not begun to store the conversation"
	case c.newest == "":
		return baton.VerdictUnknown, "the rollout of the conversation is gone"
	}
	return c.evidence(q.Delivery)
}

// FindForeign counts the messages in the rollout files of the conversation that
// carry no delivery of ours as their client id: `codex exec resume` gives none.
// What codex says by itself (compaction, an interrupt) is no UserMessage there.
func (Driver) FindForeign(q agent.ForeignQuery) (int, error) {
	if !uuidForm.MatchString(q.NativeID) {
		return 0, errors.New("the conversation has no id of codex")
	}
	c, err := findConversation(q.NativeID, q.Env)
	if err != nil {
		return 0, err
	}
	if c.newest == "" {
		return 0, errors.New("the rollout of the conversation is gone")
	}
	n := 0
	err = c.walk(func(path string, limit int64) (base *historyBase, err error) {
		_, err = eachLine(path, limit, func(l rolloutLine) bool {
			switch {
			case l.Type == "session_meta" && l.Payload.Base != nil:
				base = l.Payload.Base
			case l.message() && !q.Ours(baton.DeliveryID(l.Payload.Item.ClientID)):
				n++
			}
			return true
		}, `"session_meta"`, `"UserMessage"`)
		return base, err
	})
	return n, err
}

// conversation is where the files of a thread lie.
type conversation struct {
	rollouts map[string]string // segment → file, of all threads
	newest   string            // segment of the thread; "" where there is none
}

func findConversation(thread string, env map[string]string) (conversation, error) {
	home := env["CODEX_HOME"]
	if home == "" && env["HOME"] != "" {
		home = filepath.Join(env["HOME"], ".codex")
	}
	if home == "" {
		return conversation{}, errors.New("codex's directory is not known")
	}
	c := conversation{rollouts: map[string]string{}}
	var err error
	c.newest, err = findRollouts(home, thread, c.rollouts)
	return c, err
}

// walk gives the newest segment to scan, then each that one goes on from, with
// the ordinal at which it ends for this conversation, negative for its own end.
func (c conversation) walk(scan func(path string, limit int64) (*historyBase, error)) error {
	segment, limit := c.newest, int64(-1)
	for range maxSegments {
		path, ok := c.rollouts[segment]
		if !ok {
			return errors.New("a part of the conversation is missing: " + segment)
		}
		base, err := scan(path, limit)
		if err != nil || base == nil {
			return err
		}
		segment, limit = base.Segment, base.End
	}
	return errors.New("the conversation goes through too many files")
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

// evidence looks for a delivery in all segments.
func (c conversation) evidence(d baton.DeliveryID) (baton.Verdict, string) {
	evidence, unclear := "", ""
	err := c.walk(func(path string, limit int64) (*historyBase, error) {
		found, err := scanRollout(path, d, limit)
		evidence = found.evidence
		if err != nil || evidence != "" {
			return nil, err
		}
		if limit < 0 {
			unclear = found.unclear
		}
		return found.base, nil
	})
	switch {
	case err != nil:
		return baton.VerdictUnknown, err.Error()
	case evidence != "":
		return baton.VerdictHas, evidence
	case unclear != "":
		return baton.VerdictUnknown, unclear
	}
	return baton.VerdictHasNot, "not in the rollout of the conversation"
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

// message says whether the line is a message that somebody gave.
func (l rolloutLine) message() bool {
	return l.Type == "event_msg" && l.Payload.Type == "item_completed" && l.Payload.Item.Type == "UserMessage"
}

type finding struct {
	evidence string
	unclear  string // why a message may be there all the same
	base     *historyBase
}

// scanRollout looks for a delivery in one segment.
func scanRollout(path string, d baton.DeliveryID, limit int64) (finding, error) {
	var found finding
	turn, text := "", false // the newest turn, and whether it has a text without an id
	cut, err := eachLine(path, limit, func(l rolloutLine) bool {
		p := l.Payload
		switch {
		case l.Type == "session_meta" && p.Base != nil:
			found.base = p.Base
		case l.Type == "response_item" && p.ID == itemID(d):
			found.evidence = "the item " + p.ID + " is in the rollout"
		case l.message() && p.Item.ClientID == string(d):
			found.evidence = "the message with this client id is in the rollout"
		case l.message():
			text = false
		case l.Type == "event_msg" && p.Type == "task_started":
			turn, text = p.TurnID, false
		case l.Type == "response_item" && p.Role == "user" && turn != "" && p.Passed.TurnID == turn &&
			strings.HasPrefix(strings.Join(p.Passed.Kinds, ""), "user."):
			text = true
		}
		return found.evidence == ""
	})
	switch {
	case cut:
		found.unclear = "the rollout ends in the middle of a line"
	case text:
		found.unclear = "the rollout ends with a message that has no id yet"
	}
	return found, err
}

// eachLine gives the lines of one segment up to the ordinal limit, or to its end
// where limit is negative, until see says that it is enough. With only, lines
// that hold none of these texts are not looked at. It says whether the last line
// was cut off.
func eachLine(path string, limit int64, see func(rolloutLine) bool, only ...string) (cut bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		raw, readErr := r.ReadBytes('\n')
		if readErr != nil && readErr != io.EOF {
			return false, readErr
		}
		holds := func(text string) bool { return bytes.Contains(raw, []byte(text)) }
		if len(bytes.TrimSpace(raw)) > 0 && (len(only) == 0 || slices.ContainsFunc(only, holds)) {
			var l rolloutLine
			switch err := json.Unmarshal(raw, &l); {
			case err != nil && readErr != nil:
				return true, nil
			case err != nil || l.Ordinal == nil:
				return false, fmt.Errorf("line %d of the rollout can't be read", n)
			case limit >= 0 && *l.Ordinal >= limit, !see(l):
				return false, nil
			}
		}
		if readErr != nil {
			return false, nil
		}
	}
}
