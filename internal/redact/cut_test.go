package redact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"baton/internal/redact"
	"baton/internal/redact/redacttest"
)

// Wherever a text with a key in it is cut, no half of the key stays.
func TestNoHalfIsLeft(t *testing.T) {
	for _, p := range redacttest.Plants(2) {
		if p.Kind == "password" || p.Kind == "url_password" {
			continue // without what names it, half a password is a word
		}
		at := strings.Index(p.Text, p.Secret[:12])
		for i := at + 1; i < at+len(p.Secret) && i < len(p.Text); i += 1 + len(p.Secret)/40 {
			head, tail, _ := redact.Ends(p.Text[:i], p.Text[i:])
			if left := redacttest.Left(head+"\n"+tail, p.Secret); left != "" {
				t.Errorf("%s in a %s, cut at %d, leaves %q: %q … %q", p.Issuer, p.Where, i-at, left, head, tail)
				break
			}
		}
	}
}

func TestEndsKeepsTheRest(t *testing.T) {
	tests := []struct{ head, tail, wantHead, wantTail string }{
		{"one two thr", "ee four", "one two ", " four"},
		{"one two ", "three", "one two ", ""},
		{"", "", "", ""},
		{strings.Repeat("é", 9000), "x y", strings.Repeat("é", 9000-maxHalf/2), " y"},
		{"a [redacted:jwt]", " b", "a [redacted:jwt]", " b"},
	}
	for _, tt := range tests {
		head, tail, n := redact.Ends(tt.head, tt.tail)
		if head != tt.wantHead || tail != tt.wantTail || n != 0 || !utf8.ValidString(head+tail) {
			t.Errorf("Ends(%.20q, %.20q) = %.40q, %.40q, %d", tt.head, tt.tail, head, tail, n)
		}
	}
}

const maxHalf = 8 << 10
