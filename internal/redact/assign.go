package redact

import (
	"encoding/base64"
	"strings"
)

// maxValue is how much of a value is judged, in bytes.
const maxValue = 256

// assigned looks whether the word s[i:j] names a secret and what follows gives
// it a value that looks like one. It returns the value's place and kind, or "".
func assigned(s string, i, j int) (from, to int, kind string) {
	if j >= len(s) || !follows[s[j]] {
		return 0, 0, ""
	}
	kind = names(s[i:j])
	if kind == "" {
		return 0, 0, ""
	}
	if kind == "bearer" {
		return bearer(s, j)
	}
	if kind == "basic" {
		return basic(s, j)
	}
	flag := i >= 2 && s[i-1] == '-' && s[i-2] == '-'
	v, direct, ok := operator(s, j, flag || kind == "aws_secret_key")
	if !ok {
		return 0, 0, ""
	}
	from, stop, quoted := value(s, v)
	to = until(s, from, from+maxValue, stop)
	marked := strings.Index(s[from:to], mark)
	if marked >= 0 {
		to = from + marked
	}
	if known, _ := tokenAt(s, from); known != "" || marked == 0 {
		return 0, 0, "" // found, with its better name, when the scan comes to it
	}
	if strings.EqualFold(s[i:j], "pass") && s[j] != '=' {
		return 0, 0, "" // "--- PASS: TestName/case#01"
	}
	if direct && from > v && i > 0 && s[i-1] == s[v] {
		return 0, 0, "" // "TOKEN=" + value: the quote ends a string
	}
	if kind == "aws_secret_key" && awsShape(s[from:to]) {
		return from, to, kind
	}
	query := i > 0 && (s[i-1] == '?' || s[i-1] == '&')
	literal := quoted || flag || query && direct || direct && upperName(s[i:j])
	call := marked < 0 && to < len(s) && (s[to] == '(' || s[to] == '[')
	if call && !quoted || !secret(s[from:to], kind == "password", literal) {
		return 0, 0, ""
	}
	if marked >= 0 {
		return from, to, kind
	}
	to = until(s, to, len(s), stop)
	if !quoted && s[to-1] == '.' {
		to-- // the sentence's
	}
	return from, to, kind
}

// follows is what may come directly after the name of a value.
var follows = setOf("=: \t\"'\\>")

// endings are the ends of names of secrets, written without _ and -.
var endings = []struct{ end, kind string }{
	{"secretaccesskey", "aws_secret_key"},
	{"password", "password"}, {"passwd", "password"}, {"pwd", "password"}, {"passphrase", "password"},
	{"secret", "secret"}, {"secretkeybase", "secret"}, {"credentials", "secret"},
	{"token", "token"},
	{"apikey", "api_key"}, {"accesskey", "api_key"}, {"secretkey", "api_key"}, {"privatekey", "api_key"},
	{"accountkey", "api_key"}, {"authkey", "api_key"}, {"signingkey", "api_key"}, {"encryptionkey", "api_key"}, {"masterkey", "api_key"},
}

// names returns the kind of secret that a name promises, or "".
func names(name string) string {
	for len(name) > 0 && afterName[name[len(name)-1]] {
		name = name[:len(name)-1]
	}
	if len(name) < 3 || len(name) > 80 || !lastOfName[name[len(name)-1]|0x20] {
		return ""
	}
	if strings.EqualFold(name, "basic") {
		return "basic"
	}
	const most = 32 // more than the longest of endings, and no more than Go compares without a copy on the heap
	var buf [most]byte
	flat := buf[:0]
	for k := max(0, len(name)-most); k < len(name); k++ {
		if c := name[k]; c != '_' && c != '-' {
			if isUpper(c) {
				c |= 0x20
			}
			flat = append(flat, c)
		}
	}
	switch n := string(flat); {
	case n == "bearer":
		return "bearer"
	case n == "pwd" && upperName(name), n == "oldpwd":
		return "" // the shell's working directory
	case n == "pass", n == "dbpass", len(name) > 5 && strings.EqualFold(name[len(name)-5:], "_pass"):
		return "password"
	default:
		for _, e := range endings {
			if strings.HasSuffix(n, e.end) {
				return e.kind
			}
		}
	}
	return ""
}

// What may follow a name of a secret in a word, and its last letters: most words
// are known by them to be none.
var afterName, lastOfName = setOf("_-0123456789"), setOf("dtnesyrc")

// operator skips what stands between a name and its value: a closing quote,
// then = or : or := or =>, or space alone where bare allows it. Direct says that
// it is = or : with nothing around it.
func operator(s string, j int, bare bool) (v int, direct, ok bool) {
	k := quote(s, j)
	sp := span(s, k, isBlank)
	op := sp
	for op < len(s) && op < sp+2 && strings.IndexByte("=:>", s[op]) >= 0 {
		op++
	}
	if op == sp {
		return sp, false, bare && sp > j
	}
	if strings.HasPrefix(s[sp:], "==") || strings.HasPrefix(s[sp:], "::") {
		return 0, false, false
	}
	v = span(s, op, isBlank)
	return v, sp == j && op == sp+1 && v == op, true
}

// quote skips a quote at s[i], an escaped one too.
func quote(s string, i int) int {
	k := i
	for k < len(s) && k < i+3 && s[k] == '\\' {
		k++
	}
	if k < len(s) && strings.IndexByte("\"'`", s[k]) >= 0 {
		return k + 1
	}
	return i
}

// value returns where the value at s[v] begins and which bytes end it.
func value(s string, v int) (from int, stop *set, quoted bool) {
	from = quote(s, v)
	if from == v {
		return from, &endBare, false
	}
	switch s[from-1] {
	case '"':
		return from, &endDouble, true
	case '\'':
		return from, &endSingle, true
	default:
		return from, &endBack, true
	}
}

// What ends a value, by the quote that it began with.
var (
	endBare   = setOf(" \t\r\n\"'`,;)]}(&<>|\\")
	endDouble = setOf("\r\n\\\"")
	endSingle = setOf("\r\n\\'")
	endBack   = setOf("\r\n\\`")
)

// until returns the first place from i on of a byte in stop, or limit.
func until(s string, i, limit int, stop *set) int {
	for limit = min(limit, len(s)); i < limit && !stop[s[i]]; i++ {
	}
	return i
}

// bearer handles "Bearer " and what a header has after it.
func bearer(s string, j int) (from, to int, kind string) {
	from = span(s, j, isBlank)
	to = span(s, from, func(c byte) bool { return isName(c) || isBase64(c) || strings.IndexByte(".=~", c) >= 0 })
	if known, _ := tokenAt(s, from); known != "" || from == j || to-from < 16 || !random(s[from:to]) {
		return 0, 0, ""
	}
	return from, to, "bearer_token"
}

// basic handles "Basic " and what a header has after it: Base64 of user:password.
// The word is common, so what follows it is decoded.
func basic(s string, j int) (from, to int, kind string) {
	const longest = 1024
	from = span(s, j, isBlank)
	to = from
	for to < len(s) && to < from+longest && (isBase64(s[to]) || s[to] == '-' || s[to] == '_') {
		to++
	}
	if from == j || to-from < 8 {
		return 0, 0, ""
	}
	said, err := base64.StdEncoding.DecodeString(unURL.Replace(s[from : to-(to-from)%4]))
	user, _, ok := strings.Cut(string(said), ":")
	if err != nil || !ok || user == "" || strings.IndexFunc(string(said), func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
		return 0, 0, ""
	}
	return from, span(s, to, isPEM), "basic_auth"
}

// unURL makes Base64 for URLs the usual one.
var unURL = strings.NewReplacer("-", "+", "_", "/")

// secret judges a value. Literal says that it stands where a literal stands, in
// quotes or in an environment, and not where code would have an expression.
func secret(v string, password, literal bool) bool {
	if len(v) < 6 || placeholder(v) || strings.Contains(v, "://") {
		return false
	}
	t := look(v)
	switch {
	case t.spaces > 0:
		return false
	case password && literal:
		return (t.digits > 0 && (t.letters > 0 || len(v) >= 8) || t.symbols > 0 && len(v) >= 8) && entropy(v) >= 2.2
	case password && t.symbols > 0:
		return len(v) >= 8 && t.digits > 0 && t.letters > 0
	case t.letters == 0 || len(v) < 12:
		return false
	case t.digits == 0:
		return literal && len(v) >= 24 && t.upper && t.lower && entropy(v) >= 4
	case literal:
		return t.switches >= 2 && entropy(v) >= 3
	default:
		return t.switches >= 3 && t.digits >= 3 && strings.IndexByte(v, '.') < 0 && entropy(v) >= 3
	}
}

// placeholder says whether v stands for a value that is elsewhere: a variable,
// a path, a blank to be filled in.
func placeholder(v string) bool {
	if strings.IndexByte("$<{%*[(/.~", v[0]) >= 0 || strings.Contains(v, "${") || strings.Contains(v, "{{") {
		return true
	}
	switch strings.ToLower(strings.TrimLeft(v, "xX")) {
	case "", "password", "passwd", "pass", "pwd", "secret", "token", "x-oauth-basic":
		return true
	}
	return false
}

// awsShape says that a value is as long as a secret of AWS and made of the same.
func awsShape(v string) bool {
	t := look(v)
	return len(v) == 40 && span(v, 0, isBase64) == len(v) && t.upper && t.lower && entropy(v) >= 3.5
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func upperName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return 'a' <= r && r <= 'z' }) < 0
}
