// Package redact takes secrets out of text before it is stored, shown or sent.
//
// Text finds two sorts of secrets. Those with a shape of their own (keys and
// tokens that name their issuer by a prefix, JSON web tokens, private key
// blocks, passwords in URLs) are found anywhere. Those without one are found by
// the name that they are assigned to (PASSWORD=…, "api_key": "…", --token …),
// and only where the value looks made by chance: source code is full of tokens,
// keys and passwords that are identifiers.
//
// It is a safety net and no proof: a secret of no known shape under no telling
// name passes. A false alarm costs a reader one word, so where both are
// possible the value goes.
//
// The package looks at each byte a bounded number of times. What it leaves in
// place of a secret, "[redacted:kind]", it never takes for one.
package redact

import "strings"

// Text returns s with each secret replaced by "[redacted:kind]", and how many
// there were. Kinds are lower-case words such as github_token, password,
// private_key. A text without secrets is returned as it is, without a copy.
// Text that is no UTF-8 is left as it is around the secrets.
//
// What it returns holds nothing more that it would take: Text of it is the same.
func Text(s string) (string, int) {
	total := 0
	for range maxPasses {
		got, n := pass(s)
		if n == 0 {
			break
		}
		s, total = got, total+n
	}
	return s, total
}

// maxPasses is how often a text with secrets is looked at: what took the place
// of one may show what stands beside it in another light.
const maxPasses = 8

// mark begins what stands in a secret's place.
const mark = "[redacted:"

func pass(s string) (string, int) {
	sc := scanner{s: s, end: -1}
	for i := 0; i < len(s); {
		i = sc.step(i)
	}
	if sc.count == 0 {
		return s, 0
	}
	sc.out.WriteString(s[sc.done:])
	return sc.out.String(), sc.count
}

// scanner is one pass over s. Everything before done is in out.
type scanner struct {
	s     string
	out   strings.Builder
	done  int
	count int

	end   int // where the next end line of a key block begins; -1 unknown, len(s) none
	floor int // a look back for a key block's body goes no further
}

// hide replaces s[from:to], which begins at done or later.
func (sc *scanner) hide(from, to int, kind string) int {
	sc.out.WriteString(sc.s[sc.done:from])
	sc.out.WriteString(mark)
	sc.out.WriteString(kind)
	sc.out.WriteByte(']')
	sc.done = to
	sc.count++
	return to
}

// step looks at what begins at i and returns where to go on.
func (sc *scanner) step(i int) int {
	s := sc.s
	switch classes[s[i]] {
	case plain:
		for i++; i < len(s) && classes[s[i]] == plain; i++ {
		}
		return i
	case word:
		j := i + 1
		for j < len(s) && classes[s[j]]&inWord != 0 {
			j++
		}
		return sc.word(i, j)
	case dash:
		if strings.HasPrefix(s[i:], pemDashes) {
			return sc.pem(i)
		}
		return i + 1
	case colon:
		if strings.HasPrefix(s[i:], "://") {
			return sc.url(i + len("://"))
		}
		return i + 1
	default:
		return i + escape(s[i:])
	}
}

// word handles the word s[i:j]: a token, or the name of one.
func (sc *scanner) word(i, j int) int {
	if kind, to := tokenAt(sc.s, i); kind != "" {
		next := sc.hide(i, to, kind)
		if kind == "aws_access_key" {
			return sc.awsSecret(next)
		}
		return next
	}
	if from, to, kind := assigned(sc.s, i, j); kind != "" {
		return sc.hide(from, to, kind)
	}
	return j
}

// url handles what follows "://": the password of user:password@host.
func (sc *scanner) url(i int) int {
	s := sc.s
	if kind, to := tokenAt(s, i); kind != "" {
		return sc.hide(i, to, kind)
	}
	if strings.HasPrefix(s[i:], "[") {
		return i // an address of IPv6, or redacted
	}
	first, at, port := -1, -1, true // port: what follows the colon is digits so far
scan:
	for j := i; j < len(s) && !endAuthority[s[j]]; j++ {
		switch c := s[j]; {
		case c == ':' && first < 0:
			first = j
		case c == '@':
			at = j
		case c == '#' && (first < 0 || at >= 0 || port):
			break scan // a fragment; in a password it is a character that nobody escaped
		case first >= 0 && !isDigit(c):
			port = false
		}
	}
	if user := until(s, i, at, &endUser); user-i >= 20 && random(s[i:user]) {
		return sc.hide(i, at, "url_password") // a token in the user's place
	}
	if first < 0 || at < first+2 || placeholder(s[first+1:at]) {
		return i
	}
	return sc.hide(first+1, at, "url_password")
}

var endUser = setOf(":")

var endAuthority = setOf("/?\"'`<>\\ \t\r\n")

// escape returns the length of the escape at the head of s, so that what
// follows it is seen from its first letter: "\n" and "\u000a" in JSON, "%3D" in
// a URL, a colour code of a terminal, raw or escaped itself. Anything else is
// one byte.
func escape(s string) int {
	for _, esc := range escs {
		if len(s) > len(esc) && s[len(esc)] == '[' && strings.EqualFold(s[:len(esc)], esc) {
			n := len(esc) + 1
			for most := min(len(s), n+14); n < most && (s[n] == ';' || isDigit(s[n])); n++ {
			}
			return min(n+1, len(s))
		}
	}
	n := 1
	switch {
	case len(s) < 2:
	case s[0] == '\\' && s[1] == 'u':
		n = 6
	case s[0] == '\\' && s[1] == 'x':
		n = 4
	case s[0] == '\\' && strings.IndexByte("nrtbf", s[1]) >= 0:
		n = 2
	case s[0] == '%' && isHex(s[1]):
		n = 3
	}
	return min(n, len(s))
}

// escs are the ways to write ESC.
var escs = []string{"\x1b", `\u001b`, `\x1b`, `\033`, `\e`}

// Classes of bytes, as far as the scan cares.
const (
	plain  = 0
	inWord = 1 << iota
	starts
	colon
	escaper

	word = inWord | starts
	dash = inWord // within a word only
)

var classes = func() (t [256]uint8) {
	for c := range t {
		b := byte(c)
		switch {
		case isLetter(b) || isDigit(b) || b == '_':
			t[c] = word
		case b == '-':
			t[c] = dash
		case b == ':':
			t[c] = colon
		case b == '\\' || b == '%' || b == 0x1b:
			t[c] = escaper
		}
	}
	return t
}()

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }

// set is a set of bytes.
type set [256]bool

func setOf(bytes string) (t set) {
	for i := range len(bytes) {
		t[bytes[i]] = true
	}
	return t
}
