// Package redacttest has what the redaction of secrets is measured with: keys of
// many kinds, planted in texts as agents see them, and the false alarms of a
// body of code.
//
// The keys are made when they are asked for, so that no file of the repository
// holds one. They are the same each time.
package redacttest

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
)

// Plant is a text with one secret in it.
type Plant struct {
	Kind   string // as redact.Text names it
	Issuer string // what the secret is for people: "OpenAI", "GitHub, fine-grained"
	Where  string // what sort of text it is: "message", "output", "file name", "URL" …
	Text   string
	Secret string // as it stands in Text, but for line ends and what begins a line
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	word   = lower + upper + digits
)

// maker makes keys out of a seed.
type maker struct{ *rand.Rand }

func (m maker) of(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.IntN(len(alphabet))]
	}
	return string(b)
}

func (m maker) base64url(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func (m maker) jwt() string {
	return m.base64url(`{"alg":"HS256","typ":"JWT"}`) + "." +
		m.base64url(`{"sub":"`+m.of(10, digits)+`","iat":1516239022,"jti":"`+m.of(12, word)+`"}`) + "." + m.of(43, word+"-_")
}

// PEM returns a private key of n lines.
func (m maker) pem(label string, n int) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + label + "-----\n")
	for range n {
		b.WriteString(m.of(64, word+"+/") + "\n")
	}
	b.WriteString(m.of(30, word+"+/") + "==\n-----END " + label + "-----")
	return b.String()
}

// password is one as people and generators make them.
func (m maker) password() string {
	return m.of(1, upper) + m.of(5, lower) + m.of(3, digits) + m.of(1, "!#*^") + m.of(4, word)
}

// Plants returns n secrets of each kind in each sort of text.
func Plants(n int) []Plant {
	var out []Plant
	for seed := range n {
		m := maker{rand.New(rand.NewPCG(uint64(seed), 13))}
		for _, k := range shaped {
			for _, c := range anywhere {
				s := k.make(m)
				out = append(out, Plant{Kind: k.kind, Issuer: k.issuer, Where: c.where, Secret: s, Text: strings.ReplaceAll(c.text, "SECRET", s)})
			}
		}
		for _, k := range named {
			s := k.make(m)
			out = append(out, Plant{Kind: k.kind, Issuer: k.issuer, Where: k.where, Secret: s, Text: strings.ReplaceAll(k.text, "SECRET", s)})
		}
		for _, c := range blocks {
			s := m.pem([]string{"RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"}[seed%4], 3+seed%40)
			out = append(out, Plant{Kind: "private_key", Issuer: "PEM", Where: c.where, Secret: s,
				Text: "so it is:" + c.between + strings.ReplaceAll(s, "\n", c.between) + c.between + "and on."})
		}
	}
	return out
}

// shaped are the kinds that are known by their own shape.
var shaped = []struct {
	kind, issuer string
	make         func(maker) string
}{
	{"api_key", "OpenAI, old", func(m maker) string { return "sk-" + m.of(20, word) + "T3Blbk" + "FJ" + m.of(20, word) }},
	{"openai_key", "OpenAI, project", func(m maker) string {
		return "sk-proj-" + m.of(74, word+"-_") + "T3Blbk" + "FJ" + m.of(74, word)
	}},
	{"anthropic_key", "Anthropic", func(m maker) string { return "sk-ant-api03-" + m.of(93, word+"-_") + "AA" }},
	{"github_token", "GitHub", func(m maker) string { return "ghp_" + m.of(36, word) }},
	{"github_token", "GitHub, fine-grained", func(m maker) string { return "github_pat_" + m.of(22, word) + "_" + m.of(59, word) }},
	{"aws_access_key", "AWS, id", func(m maker) string { return "AKIA" + m.of(16, upper+"234567") }},
	{"google_api_key", "Google", func(m maker) string { return "AIza" + m.of(35, word) }},
	{"slack_token", "Slack, bot", func(m maker) string {
		return "xoxb-" + m.of(12, digits) + "-" + m.of(13, digits) + "-" + m.of(24, word)
	}},
	{"stripe_key", "Stripe", func(m maker) string { return "sk_live_" + m.of(24, word) }},
	{"npm_token", "npm", func(m maker) string { return "npm_" + m.of(36, word) }},
	{"jwt", "JSON web token", func(m maker) string { return m.jwt() }},
	{"gitlab_token", "GitLab", func(m maker) string { return "glpat-" + m.of(20, word+"-_") }},
	{"huggingface_token", "Hugging Face", func(m maker) string { return "hf_" + m.of(34, lower+upper) }},
}

// anywhere are the texts that such a secret may stand in.
var anywhere = []struct{ where, text string }{
	{"message", "please use SECRET for the deploy, and tell nobody."},
	{"output", "$ env\nHOME=/home/app\nCI_VALUE=SECRET\n$ exit\n"},
	{"output, coloured", "remote: \x1b[1;32mSECRET\x1b[0m was made"},
	{"JSON", `{"type":"result","stdout":"line one\nSECRET\n"}`},
	{"diff", "@@ -1 +1 @@\n-\tkey := \"\"\n+\tkey := \"SECRET\"\n"},
	{"file name", "deploy/SECRET.txt"},
	{"URL", "GET https://api.example.com/v1/things?key=SECRET&limit=10"},
	{"URL, user", "origin https://SECRET@git.example.com/team/app.git (fetch)"},
}

func (m maker) bearer() string { return m.of(40, word) }

// named are the kinds that are known by what stands before them.
var named = []struct {
	kind, issuer, where, text string
	make                      func(maker) string
}{
	{"password", "password=", "output", "DB_HOST=db\nDB_PASSWORD=SECRET\n", maker.password},
	{"password", "password=", "message", "the login is app and password=SECRET there", maker.password},
	{"password", "password=", "JSON", `{"user":"app","password":"SECRET","port":5432}`, maker.password},
	{"password", "password=", "diff", "+password: 'SECRET'\n", maker.password},
	{"password", "password=", "output, coloured", "mysql --password=SECRET -h db", maker.password},
	{"password", "password=", "URL", "GET https://api.example.com/login?user=app&password=SECRET&x=1", maker.password},
	{"password", "password=", "file name", "backup/password=SECRET/dump.sql", maker.password},
	{"url_password", "password in a URL", "message", "it is at https://app:SECRET@db.example.com/x today", maker.password},
	{"url_password", "password in a URL", "output", "DATABASE_URL=postgres://app:SECRET@db:5432/app?sslmode=off\n", maker.password},
	{"url_password", "password in a URL", "JSON", `{"url":"redis://:SECRET@cache:6379/0"}`, maker.password},
	{"api_key", "api_key:", "message", "set api_key: SECRET and go", func(m maker) string { return m.of(32, "abcdef"+digits) }},
	{"api_key", "api_key:", "output", "SERVICE_API_KEY=SECRET\n", func(m maker) string { return m.of(40, word) }},
	{"api_key", "api_key:", "JSON", `{"apiKey": "SECRET"}`, func(m maker) string { return m.of(32, word) }},
	{"api_key", "api_key:", "diff", "+  api_key: \"SECRET\"", func(m maker) string { return m.of(24, word) }},
	{"api_key", "api_key:", "URL", "GET https://maps.example.com/v1?api_key=SECRET&q=a", func(m maker) string { return m.of(32, "abcdef"+digits) }},
	{"bearer_token", "Bearer", "output", "> GET /v1 HTTP/1.1\n> Authorization: Bearer SECRET\n> Accept: */*\n", maker.bearer},
	{"bearer_token", "Bearer", "message", `curl -H "Authorization: Bearer SECRET" https://api.example.com`, maker.bearer},
	{"bearer_token", "Bearer", "JSON", `{"headers":{"authorization":"Bearer SECRET"}}`, maker.bearer},
	{"basic_auth", "Basic", "output", "> Authorization: Basic SECRET\n", func(m maker) string { return m.base64url("app:" + m.password()) }},
	{"basic_auth", "Basic", "JSON", `{"authorization":"Basic SECRET"}`, func(m maker) string { return m.base64url("app:" + m.password()) }},
	{"aws_secret_key", "AWS, secret", "output", "[default]\naws_secret_access_key = SECRET\n", func(m maker) string { return m.of(40, word+"+/") }},
	{"aws_secret_key", "AWS, secret", "JSON", `{"SecretAccessKey":"SECRET"}`, func(m maker) string { return m.of(40, word+"+/") }},
	{"aws_secret_key", "AWS, secret", "message", "aws configure set aws_secret_access_key SECRET", func(m maker) string { return m.of(40, word+"+/") }},
}

// blocks are the texts that a private key may stand in, by what is between two
// of its lines.
var blocks = []struct{ where, between string }{
	{"message", "\n"},
	{"output", "\n    "},
	{"JSON", `\n`},
	{"diff", "\n+"},
	{"quotation", "\n> "},
	{"output, coloured", "\r\n"},
}

// pieces is how long a piece of a secret must be to be worth something.
const piece = 8

// Left returns a piece of the secret that is still in text, or "". Eight
// characters in a row are a piece; what begins the secret and names its issuer
// is none.
func Left(text, secret string) string {
	for _, line := range strings.Split(secret, "\n") {
		if strings.HasPrefix(line, "-----") {
			continue
		}
		from := 0
		if i := strings.LastIndexAny(line[:min(len(line), 12)], "_-"); i >= 0 {
			from = i + 1
		}
		for i := from; i+piece <= len(line); i++ {
			if strings.Contains(text, line[i:i+piece]) {
				return line[i : i+piece]
			}
		}
	}
	return ""
}
