package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// hostile is what an agent may say to drive a terminal.
var hostile = map[string]string{
	"colour":          "a\x1b[31mb",
	"conceal":         "a\x1b[8mb",
	"clipboard":       "a\x1b]52;c;ZWNobw==\x07b",
	"title":           "a\x1b]0;owned\x1b\\b",
	"C1 CSI":          "a\u009b2Jb",
	"C1 OSC":          "a\u009d52;c;x\u009cb",
	"raw C1":          "a\x9b2Jb",
	"bidi override":   "a\u202egnp.exeb",
	"bidi isolate":    "a\u2066x\u2069b",
	"carriage return": "a rm -rf /\recho harmless",
	"backspace":       "ab\b\bc",
	"line separator":  "a\u2028b",
}

func TestNothingDrivesTheScreen(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			for _, parts := range []int{1, len(text)} { // at once, and byte by byte
				var out bytes.Buffer
				s := &screen{w: &out, mark: newMark()}
				for part := range slicesOf(text, parts) {
					if n, err := fmt.Fprint(s, part); n != len(part) || err != nil {
						t.Fatal(n, err)
					}
				}
				for _, r := range out.String() {
					if r < 0x20 || hidden(r) {
						t.Errorf("%q passed as %q", text, out.String())
					}
				}
				if !strings.HasPrefix(out.String(), "a") {
					t.Errorf("%q became %q", text, out.String())
				}
			}
		})
	}
}

func slicesOf(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		size := len(s) / n
		for i := 0; i < len(s); i += size {
			if !yield(s[i:min(i+size, len(s))]) {
				return
			}
		}
	}
}

func TestTheScreenPaintsWhatIsOurs(t *testing.T) {
	var out bytes.Buffer
	a := &app{out: &screen{w: &out, mark: newMark()}, tty: true}
	fmt.Fprintf(a.out, "%s, é\t%s\r\n", a.style(red, "no\x1b[0m"), a.style(bold, "yes"))
	if got, want := out.String(), "\x1b[31mno␛[0m\x1b[0m, é\t\x1b[1myes\x1b[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	other := &screen{w: &out, mark: newMark()}
	fmt.Fprint(a.out, other.style(red, "x"))
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("another's mark passed: %q", out.String())
	}
}

func TestJSONKeepsItsValuesOnATerminal(t *testing.T) {
	for name, text := range hostile {
		text = strings.ToValidUTF8(text, "?")
		var out bytes.Buffer
		if err := json.NewEncoder(escaped{&out}).Encode(text); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(strings.TrimSpace(out.String()), func(r rune) bool { return r < 0x20 || hidden(r) }) {
			t.Errorf("%s: passed as %q", name, out.String())
		}
		var back string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != text {
			t.Errorf("%s: %q came back as %q, %v", name, text, back, err)
		}
	}
}
