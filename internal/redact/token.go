package redact

import (
	"math"
	"strings"
)

// token is a shape that names its issuer by a prefix.
type token struct {
	kind   string
	prefix string
	min    int             // length of what follows the prefix, at least
	max    int             // at most; 0 for any. A longer word is something else
	of     func(byte) bool // what may follow
	mixed  bool            // it must look made by chance: the prefix alone says little
	dotted bool            // a second part may follow after a dot
}

// tokens is the table of shapes, by the prefixes that the issuers document. A
// longer prefix stands before a shorter one that it begins with.
var tokens = []token{
	{kind: "aws_access_key", prefix: "AKIA", min: 16, max: 16, of: isUpperDigit},
	{kind: "aws_access_key", prefix: "ASIA", min: 16, max: 16, of: isUpperDigit},
	{kind: "github_token", prefix: "ghp_", min: 30, of: isName},
	{kind: "github_token", prefix: "gho_", min: 30, of: isName},
	{kind: "github_token", prefix: "ghu_", min: 30, of: isName},
	{kind: "github_token", prefix: "ghs_", min: 30, of: isName},
	{kind: "github_token", prefix: "ghr_", min: 30, of: isName},
	{kind: "github_token", prefix: "github_pat_", min: 22, of: isName},
	{kind: "gitlab_token", prefix: "glpat-", min: 20, of: isName},
	{kind: "gitlab_token", prefix: "glrt-", min: 20, of: isName},
	{kind: "gitlab_token", prefix: "gldt-", min: 20, of: isName},
	{kind: "anthropic_key", prefix: "sk-ant-", min: 20, of: isName},
	{kind: "openai_key", prefix: "sk-proj-", min: 20, of: isName},
	{kind: "openai_key", prefix: "sk-svcacct-", min: 20, of: isName},
	{kind: "openai_key", prefix: "sk-admin-", min: 20, of: isName},
	{kind: "api_key", prefix: "sk-", min: 20, of: isName, mixed: true},
	{kind: "stripe_key", prefix: "sk_live_", min: 16, of: isName},
	{kind: "stripe_key", prefix: "rk_live_", min: 16, of: isName},
	{kind: "stripe_key", prefix: "sk_test_", min: 16, of: isName},
	{kind: "stripe_key", prefix: "rk_test_", min: 16, of: isName},
	{kind: "stripe_key", prefix: "whsec_", min: 24, of: isName, mixed: true},
	{kind: "slack_token", prefix: "xoxb-", min: 10, of: isName},
	{kind: "slack_token", prefix: "xoxp-", min: 10, of: isName},
	{kind: "slack_token", prefix: "xoxa-", min: 10, of: isName},
	{kind: "slack_token", prefix: "xoxr-", min: 10, of: isName},
	{kind: "slack_token", prefix: "xoxs-", min: 10, of: isName},
	{kind: "slack_token", prefix: "xoxe-", min: 10, of: isName},
	{kind: "slack_token", prefix: "xoxc-", min: 10, of: isName},
	{kind: "slack_token", prefix: "xoxd-", min: 10, of: isName},
	{kind: "slack_webhook", prefix: "hooks.slack.com/services/", min: 30, of: isPath},
	{kind: "slack_token", prefix: "xapp-", min: 10, of: isName, mixed: true},
	{kind: "google_api_key", prefix: "AIza", min: 35, of: isName},
	{kind: "google_token", prefix: "ya29.", min: 20, of: isName},
	{kind: "google_token", prefix: "GOCSPX-", min: 24, of: isName},
	{kind: "npm_token", prefix: "npm_", min: 36, of: isName, mixed: true},
	{kind: "huggingface_token", prefix: "hf_", min: 30, of: isName, mixed: true},
	{kind: "pypi_token", prefix: "pypi-AgEI", min: 40, of: isName},
	{kind: "docker_token", prefix: "dckr_pat_", min: 20, of: isName},
	{kind: "digitalocean_token", prefix: "dop_v1_", min: 40, of: isName},
	{kind: "sendgrid_key", prefix: "SG.", min: 16, of: isName, mixed: true, dotted: true},
	{kind: "groq_key", prefix: "gsk_", min: 40, of: isName, mixed: true},
	{kind: "xai_key", prefix: "xai-", min: 40, of: isName, mixed: true},
	{kind: "nvidia_key", prefix: "nvapi-", min: 40, of: isName, mixed: true},
	{kind: "perplexity_key", prefix: "pplx-", min: 32, of: isName, mixed: true},
	{kind: "replicate_token", prefix: "r8_", min: 30, of: isName, mixed: true},
	{kind: "linear_key", prefix: "lin_api_", min: 32, of: isName, mixed: true},
	{kind: "shopify_token", prefix: "shpat_", min: 32, of: isName, mixed: true},
	{kind: "shopify_token", prefix: "shpss_", min: 32, of: isName, mixed: true},
	{kind: "vault_token", prefix: "hvs.", min: 24, of: isName, mixed: true},
	{kind: "rubygems_key", prefix: "rubygems_", min: 40, of: isName, mixed: true},
	{kind: "postman_key", prefix: "PMAK-", min: 40, of: isName, mixed: true},
	{kind: "age_key", prefix: "AGE-SECRET-KEY-1", min: 50, of: isUpperDigit},
}

// byFirst finds the shapes that begin with a byte.
var byFirst = func() (t [256][]token) {
	for _, k := range tokens {
		t[k.prefix[0]] = append(t[k.prefix[0]], k)
	}
	return t
}()

// tokenAt returns kind and end of the token that begins at s[i], or "".
func tokenAt(s string, i int) (kind string, end int) {
	if i >= len(s) {
		return "", i
	}
	if strings.HasPrefix(s[i:], "eyJ") {
		return jwtAt(s, i)
	}
	for _, k := range byFirst[s[i]] {
		if !strings.HasPrefix(s[i:], k.prefix) {
			continue
		}
		from := i + len(k.prefix)
		end := span(s, from, k.of)
		body := s[from:end]
		long := k.max > 0 && (len(body) > k.max || end < len(s) && isName(s[end]))
		if len(body) < k.min || long || entropy(body) < 2.5 || k.mixed && !random(body) && !jumbled(body) {
			continue
		}
		if k.dotted {
			end = part(s, end)
		}
		return k.kind, end
	}
	return "", i
}

// jwtAt finds header.payload and, where it is not cut off, the signature.
func jwtAt(s string, i int) (string, int) {
	head := span(s, i, isName)
	payload := part(s, head)
	if head-i < 12 || payload-head < 12 || !strings.HasPrefix(s[head:], ".eyJ") {
		return "", i
	}
	return "jwt", part(s, payload)
}

// part returns the end of the ".name" at s[i], or i where there is none.
func part(s string, i int) int {
	if i >= len(s) || s[i] != '.' {
		return i
	}
	if end := span(s, i+1, isName); end > i+1 {
		return end
	}
	return i
}

// awsSecret handles what stands beside an access key: its secret, 40 characters
// without a name of its own, as in a table or a credentials file.
func (sc *scanner) awsSecret(i int) int {
	s, from := sc.s, i
	for from < len(s) && from < i+8 && strings.IndexByte(" \t\r\n,;:|\"'", s[from]) >= 0 {
		from++
	}
	if to := span(s, from, isBase64); from > i && to-from == 40 && random(s[from:to]) {
		return sc.hide(from, to, "aws_secret_key")
	}
	return i
}

// span returns the end of the run of bytes at s[i] that of accepts.
func span(s string, i int, of func(byte) bool) int {
	for i < len(s) && of(s[i]) {
		i++
	}
	return i
}

func isName(c byte) bool       { return classes[c]&inWord != 0 }
func isUpperDigit(c byte) bool { return isUpper(c) || isDigit(c) }
func isPath(c byte) bool       { return isName(c) || c == '/' }
func isBase64(c byte) bool     { return isLetter(c) || isDigit(c) || c == '+' || c == '/' }

// random says whether a long word looks made by chance: letters and digits
// mixed, and few of them twice.
func random(s string) bool {
	t := look(s)
	return t.letters > 0 && t.digits > 1 && t.switches >= 3 && entropy(s) >= 3
}

// jumbled says the same of letters alone: nearly as many are capitals as are not,
// which no word and no name in code has.
func jumbled(s string) bool {
	capitals := 0
	for i := range len(s) {
		switch {
		case !isLetter(s[i]) && !isDigit(s[i]):
			return false
		case isUpper(s[i]):
			capitals++
		}
	}
	return len(s) >= 24 && capitals*5 >= len(s) && capitals*5 <= 4*len(s) && entropy(s) >= 3.8
}

// looks counts what a word is made of.
type looks struct {
	letters, digits, symbols, spaces int
	upper, lower                     bool
	switches                         int // between letters and digits
}

func look(s string) looks {
	var t looks
	var was byte // 'a' or '0'
	for i := range len(s) {
		c, is := s[i], byte(0)
		switch {
		case isLetter(c):
			t.letters++
			t.upper, t.lower = t.upper || isUpper(c), t.lower || !isUpper(c)
			is = 'a'
		case isDigit(c):
			t.digits++
			is = '0'
		case c <= ' ':
			t.spaces++
		case c != '_' && c != '-' && c != '.' && c != ':' && c != '/':
			t.symbols++
		}
		if is != 0 {
			if was != 0 && was != is {
				t.switches++
			}
			was = is
		}
	}
	return t
}

// entropy is Shannon's, in bits for each byte.
func entropy(s string) float64 {
	var n [256]int
	for i := range len(s) {
		n[s[i]]++
	}
	var h float64
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
