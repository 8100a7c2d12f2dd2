package journal_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"baton"
	"baton/internal/journal/journaltest"
)

const golden = "testdata/events.golden.jsonl"

// update adds a line for each type that has none. It never changes one: a line
// is what some version has stored.
var update = flag.Bool("update", false, "add missing types to "+golden)

type stored struct {
	Type  string          `json:"type"`
	Shape int             `json:"shape"`
	Data  json.RawMessage `json:"data"`
}

func readGolden(t *testing.T) (lines []stored) {
	b, err := os.ReadFile(golden)
	if err != nil && !(*update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		var l stored
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// TestGoldenEvents decodes every shape that was ever stored: nothing that it
// says may be lost.
func TestGoldenEvents(t *testing.T) {
	lines := readGolden(t)
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l.Type] = true
		data, err := baton.DecodeEvent(l.Type, l.Shape, l.Data)
		if err != nil {
			t.Errorf("%s, shape %d: %v", l.Type, l.Shape, err)
			continue
		}
		if _, ok := data.(baton.EventUnknown); ok {
			t.Errorf("%s, shape %d: the type is gone", l.Type, l.Shape)
		}
		again, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if l.Shape == baton.EventShape {
			keeps(t, l.Type, l.Data, again)
		}
	}
	for _, kind := range journaltest.Types() {
		if seen[kind] {
			continue
		}
		if !*update {
			t.Errorf("%s is not in %s: run go test with -update", kind, golden)
			continue
		}
		addGolden(t, kind)
	}
}

func addGolden(t *testing.T, kind string) {
	data, err := json.Marshal(journaltest.Sample(rand.New(rand.NewPCG(7, 7)), kind))
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(stored{Type: kind, Shape: baton.EventShape, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(golden, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s\n", line); err != nil {
		t.Fatal(err)
	}
}

// keeps fails unless got says all that want says; it may say more.
func keeps(t *testing.T, kind string, want, got []byte) {
	t.Helper()
	var w, g any
	for b, to := range map[*[]byte]any{&want: &w, &got: &g} {
		if err := json.Unmarshal(*b, to); err != nil {
			t.Fatal(err)
		}
	}
	if path, ok := within(w, g, ""); !ok {
		t.Errorf("%s loses %s\n was %s\n now %s", kind, path, want, got)
	}
}

func within(want, got any, path string) (lost string, ok bool) {
	w, isMap := want.(map[string]any)
	g, also := got.(map[string]any)
	if !isMap || !also {
		if wl, ok := want.([]any); ok {
			gl, _ := got.([]any)
			if len(wl) != len(gl) {
				return path, false
			}
			for i := range wl {
				if lost, ok := within(wl[i], gl[i], fmt.Sprintf("%s[%d]", path, i)); !ok {
					return lost, false
				}
			}
			return "", true
		}
		return path, reflect.DeepEqual(want, got)
	}
	for name, v := range w {
		if lost, ok := within(v, g[name], path+"."+name); !ok {
			return lost, false
		}
	}
	return "", true
}

// TestNewerShape: an event of a newer shape is kept as it is and not guessed at.
func TestNewerShape(t *testing.T) {
	raw := []byte(`{"title":{"now":"an object"}}`)
	data, err := baton.DecodeEvent("thread.titled", baton.EventShape+1, raw)
	if err != nil {
		t.Fatal(err)
	}
	if u, ok := data.(baton.EventUnknown); !ok || !bytes.Equal(u.Raw, raw) {
		t.Fatalf("decoded as %#v", data)
	}
}
