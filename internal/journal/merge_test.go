package journal_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	_ "modernc.org/sqlite"

	"baton/internal/journal"
)

// The examples of RFC 7396, appendix A.
func TestMergeExamples(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`},
		{`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{``, ` {"a":{"b":null}} `, `{"a":{}}`},
	} {
		got, err := journal.Merge([]byte(c[0]), []byte(c[1]))
		if err != nil || !same(t, got, []byte(c[2])) {
			t.Errorf("%s with %s: %s (%v), want %s", c[0], c[1], got, err, c[2])
		}
	}
	for _, bad := range [][2]string{{`{}`, `{`}, {`{`, `{}`}, {`{}`, ``}} {
		if got, err := journal.Merge([]byte(bad[0]), []byte(bad[1])); err == nil {
			t.Errorf("%q with %q: %s", bad[0], bad[1], got)
		}
	}
}

// TestMergeIsSQLites holds the merge in memory against that in the database.
func TestMergeIsSQLites(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		doc, patch := object(r, 3), object(r, 3)
		got, err := journal.Merge(doc, patch)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		if err := db.QueryRow("SELECT json_patch(?, ?)", string(doc), string(patch)).Scan(&want); err != nil {
			t.Fatal(err)
		}
		if !same(t, got, want) {
			t.Fatalf("%s\nwith %s\n gives %s\nSQLite %s", doc, patch, got, want)
		}
	}
}

func TestCompose(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	composed := 0
	for range 5000 {
		doc, a, b := object(r, 3), object(r, 3), object(r, 3)
		c, ok := journal.Compose(a, b)
		if !ok {
			continue
		}
		composed++
		want := merge(t, merge(t, doc, a), b)
		if got := merge(t, doc, c); !same(t, got, want) {
			t.Fatalf("%s\nwith %s\nthen %s\n gives %s\nas one %s\n gives %s", doc, a, b, want, c, got)
		}
	}
	if composed < 1000 {
		t.Fatalf("only %d of 5000 could be composed", composed)
	}
	for _, no := range [][2]string{{`{"a":null}`, `{"a":{"b":1}}`}, {`{"a":1}`, `{"a":{}}`}, {`{"a":{"b":[]}}`, `{"a":{"b":{}}}`}} {
		if c, ok := journal.Compose([]byte(no[0]), []byte(no[1])); ok {
			t.Errorf("%s then %s: %s", no[0], no[1], c)
		}
	}
}

func merge(t *testing.T, doc, patch []byte) []byte {
	t.Helper()
	out, err := journal.Merge(doc, patch)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// object makes a random object whose names are few, so that merges meet.
func object(r *rand.Rand, depth int) json.RawMessage {
	names := []string{"a", "b", "é", `q"`, "<x>", "line\n"}
	out := map[string]json.RawMessage{}
	for range r.IntN(5) {
		out[names[r.IntN(len(names))]] = value(r, depth-1)
	}
	b, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return b
}

func value(r *rand.Rand, depth int) json.RawMessage {
	leaves := []string{"null", "true", "0", "-1.50", "1e30", "12345678901234567890", `""`, `"tab\t<&>\u0000"`, `"世🙂"`, "[]", `[null,{"a":null}]`, "{}"}
	if depth > 0 && r.IntN(2) == 0 {
		return object(r, depth)
	}
	return json.RawMessage(leaves[r.IntN(len(leaves))])
}

func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	decode := func(raw []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}
