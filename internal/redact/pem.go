package redact

import "strings"

const (
	pemDashes = "-----"
	pemBegin  = "-----BEGIN "
	pemEnd    = "-----END "
	pemMax    = 32 << 10 // of a block; what is longer has lost its end
)

// pem handles a line of dashes. A private key block goes whole; of a block that
// was cut short, the lines of its body that are there.
func (sc *scanner) pem(i int) int {
	s := sc.s
	begins := strings.HasPrefix(s[i:], pemBegin)
	if !begins && !strings.HasPrefix(s[i:], pemEnd) {
		return span(s, i, func(c byte) bool { return c == '-' })
	}
	body, private := pemLabel(s, i)
	if !private {
		return body
	}
	if !begins {
		from := sc.bodyBefore(i)
		sc.floor = body
		if from < i {
			return sc.hide(from, body, "private_key")
		}
		return body
	}
	if sc.end < body {
		sc.end = len(s)
		if k := strings.Index(s[body:], pemEnd); k >= 0 {
			sc.end = body + k
		}
	}
	if sc.end < len(s) && sc.end-i <= pemMax {
		to, _ := pemLabel(s, sc.end)
		return sc.hide(i, to, "private_key")
	}
	if to := bodyAfter(s, body); to > body {
		return sc.hide(i, to, "private_key")
	}
	return body
}

// pemLabel returns the end of the line of dashes at i, and whether it is about
// a private key.
func pemLabel(s string, i int) (end int, private bool) {
	const longest = 80
	line := s[i:min(len(s), i+longest)]
	k := strings.Index(line[len(pemDashes):], pemDashes)
	if k < 0 {
		return i + len(pemDashes), false
	}
	return i + k + 2*len(pemDashes), strings.Contains(line[:k+len(pemDashes)], "PRIVATE KEY")
}

// bodyAfter returns the end of the lines of Base64 that follow i. Line breaks
// may be escaped.
func bodyAfter(s string, i int) int {
	end := i
	for {
		for {
			i = span(s, i, isBreak)
			if !strings.HasPrefix(s[i:], `\n`) && !strings.HasPrefix(s[i:], `\r`) {
				break
			}
			i += 2
		}
		to := span(s, i, isPEM)
		if to-i < 16 {
			return end
		}
		end, i = to, to
	}
}

// bodyBefore returns the beginning of the lines of Base64 that end at i.
func (sc *scanner) bodyBefore(i int) int {
	s, low, from := sc.s, max(sc.done, sc.floor), i
	if i > low && s[i-1] == '+' {
		i-- // of a diff, where it begins the end line too
	}
	for least := 4; ; least = 16 {
		for i > low && (isBreak(s[i-1]) || s[i-1] == '\\') {
			i--
		}
		if i-2 >= low && s[i-2:i] == `\n` {
			i -= 2
		}
		k := i
		for k > low && isPEM(s[k-1]) {
			k--
		}
		if i-k < least {
			return from
		}
		from, i = k, k
	}
}

func isPEM(c byte) bool   { return isBase64(c) || c == '=' }
func isBreak(c byte) bool { return c == '\n' || c == '\r' || c == ' ' || c == '\t' || c == '>' }
