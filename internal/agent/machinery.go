package agent

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"baton"
)

// What the machines of more than one driver are built with.

// Fact says something.
func (o *Output) Fact(f ...baton.Fact) { o.Facts = append(o.Facts, f...) }

// SetDeadline sets a deadline, counted from the input's time; 0 clears it.
func (o *Output) SetDeadline(key string, d time.Duration) {
	if o.Deadlines == nil {
		o.Deadlines = map[string]time.Duration{}
	}
	o.Deadlines[key] = d
}

// Take returns what a step has given and leaves nothing of it: what one step
// gives is the caller's.
func (o *Output) Take() Output {
	taken := *o
	*o = Output{}
	return taken
}

// LoadState reads what a machine's State returned into s, a pointer. The version
// stands in the field "v" and is looked at first: another shape is not read.
// agent is for the error, such as "codex".
func LoadState(agent string, stored []byte, version int, s any) error {
	var head struct {
		V int `json:"v"`
	}
	err := json.Unmarshal(stored, &head)
	if err == nil && head.V != version {
		return baton.Errorf(baton.CodeDataNewer, "the stored state of a session of %s has version %d, not %d", agent, head.V, version).
			WithHint("use the version of Baton that wrote it, or end the session: its conversation can be resumed")
	}
	if err == nil {
		err = json.Unmarshal(stored, s)
	}
	if err != nil {
		return baton.Errorf(baton.CodeInternal, "the stored state of a session of %s can't be read", agent).WithDetail("%v", err)
	}
	return nil
}

// Told counts the notices that a session has given, by kind; a broken agent can
// send thousands. It is part of a machine's state.
type Told map[string]int

// Notice says n unless its kind was told limit times already. The last one says
// that it is the last.
func (t *Told) Notice(o *Output, kind string, limit int, n baton.FactNotice) {
	if (*t)[kind] >= limit {
		return
	}
	if *t == nil {
		*t = Told{}
	}
	if (*t)[kind]++; (*t)[kind] == limit && limit > 1 {
		n.Text += " (further ones are not shown)"
	}
	o.Fact(n)
}

// Older compares two versions number by number; a suffix such as "-beta.1" and
// missing numbers count for nothing. It is not known for what begins with no number.
func Older(version, than string) (older, known bool) {
	a, b := numbers(version), numbers(than)
	for i := range b {
		have := 0
		if i < len(a) {
			have = a[i]
		}
		if have != b[i] {
			return have < b[i] && len(a) > 0, len(a) > 0
		}
	}
	return false, len(a) > 0
}

func numbers(version string) (n []int) {
	version, _, _ = strings.Cut(version, "-")
	for part := range strings.SplitSeq(version, ".") {
		i, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		n = append(n, i)
	}
	return n
}

// Head cuts a text to at most n bytes, between runes, and marks the cut. The
// result is valid UTF-8.
func Head(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
