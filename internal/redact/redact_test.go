package redact

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// chance is a text that looks made by chance. Keys are put together here, so
// that no file of the repository holds a string that looks like one.
const chance = "q7Zk2Xw9Rb4Tn6Yc1Vd8Hf3Jg5Lm0PsAuEiOqBtCxDz2"

func key(prefix string, n int) string { return prefix + strings.Repeat(chance, n/len(chance)+1)[:n] }

func upper(s string) string { return strings.ToUpper(s) }

func block(label, body string) string {
	return "-----BEGIN " + label + "-----\n" + body + "-----END " + label + "-----"
}

var (
	body = strings.Repeat("MIIEv"+chance+"aB+/\n", 12) + "Qk8s==\n"
	jwt  = key("eyJ"+"h", 33) + "." + key("eyJ"+"z", 60) + "." + key("S", 42)
	aws  = "AKIA" + upper(chance[:16])
)

func TestFindsSecrets(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"aws id", "id " + aws + ".", "id [redacted:aws_access_key]."},
		{"aws pair", aws + "," + key("", 38)[:36] + "/+/a", "[redacted:aws_access_key],[redacted:aws_secret_key]"},
		{"aws file", "aws_secret_access_key = " + key("", 40), "aws_secret_access_key = [redacted:aws_secret_key]"},
		{"aws cli", "aws configure set aws_secret_access_key " + key("", 40), "aws configure set aws_secret_access_key [redacted:aws_secret_key]"},
		{"github", "use " + key("ghp"+"_", 36), "use [redacted:github_token]"},
		{"github app", key("gho"+"_", 36) + "\n", "[redacted:github_token]\n"},
		{"github fine", key("github"+"_pat_", 82), "[redacted:github_token]"},
		{"removed line of a diff", "-" + key("ghp"+"_", 36), "-[redacted:github_token]"},
		{"in JSON, after a line break", `{"a":"x\n` + key("ghp"+"_", 36) + `"}`, `{"a":"x\n[redacted:github_token]"}`},
		{"in colour", "\x1b[31m" + key("ghp"+"_", 36) + "\x1b[0m", "\x1b[31m[redacted:github_token]\x1b[0m"},
		{"in colour, in JSON", `{"o":"\u001b[1;32m` + key("ghp"+"_", 36) + `\u001B[0m"}`, `{"o":"\u001b[1;32m[redacted:github_token]\u001B[0m"}`},
		{"in colour, as a shell has it", `printf '\033[31m` + key("ghp"+"_", 36) + `\e[0m'`, `printf '\033[31m[redacted:github_token]\e[0m'`},
		{"private key in JSON, end lost", `"-----BEGIN ` + `PRIVATE KEY-----\n` + key("MIIE", 60) + `\n"`, `"[redacted:private_key]\n"`},
		{"url, # inside", "https://me:" + "pa#ss" + "w@host/", "https://me:[redacted:url_password]@host/"},
		{"url, token for a user", "https://" + key("", 24) + ":x@host/", "https://[redacted:url_password]@host/"},
		{"basic", "authorization: Basic " + "YXBwOk" + "R1aHR4bg==", "authorization: Basic [redacted:basic_auth]"},
		{"webhook", "https://hooks.slack.com/services/" + "T00000000/B00000000/" + key("", 24), "https://[redacted:slack_webhook]"},
		{"letters alone", key("hf"+"_", 0) + "AxaTrenQAHVDEGfrRHMM" + "PLjlsTxRuIFDRQ", "[redacted:huggingface_token]"},
		{"percent escape", "a%3D" + key("ghp"+"_", 36), "a%3D[redacted:github_token]"},
		{"the better name", "GITHUB_TOKEN=" + key("ghp"+"_", 36), "GITHUB_TOKEN=[redacted:github_token]"},
		{"openai", key("sk"+"-", 48), "[redacted:api_key]"},
		{"openai project", key("sk"+"-proj-", 80), "[redacted:openai_key]"},
		{"anthropic", key("sk"+"-ant-api03-", 90), "[redacted:anthropic_key]"},
		{"slack", key("xox"+"b-1234567890-", 24), "[redacted:slack_token]"},
		{"google", key("AI"+"za", 35), "[redacted:google_api_key]"},
		{"sendgrid", key("S"+"G.", 22) + "." + key("", 43), "[redacted:sendgrid_key]"},
		{"jwt", "t: " + jwt + " end", "t: [redacted:jwt] end"},
		{"jwt cut short", jwt[:90], "[redacted:jwt]"},
		{"header", "Authorization: Bearer " + key("", 40), "Authorization: Bearer [redacted:bearer_token]"},
		{"url", "postgres://app:" + "s3cr" + "et@db:5432/x", "postgres://app:[redacted:url_password]@db:5432/x"},
		{"url, @ inside", "https://me:" + "p@ss" + "w@host/", "https://me:[redacted:url_password]@host/"},
		{"url with a token", "https://" + key("ghp"+"_", 36) + ":x-oauth-basic@github.com/a", "https://[redacted:github_token]:x-oauth-basic@github.com/a"},
		{"env", "DB_PASSWORD=Winter" + "2024", "DB_PASSWORD=[redacted:password]"},
		{"env, quoted", `export API_KEY='` + key("", 24) + `'`, `export API_KEY='[redacted:api_key]'`},
		{"json", `{"client_secret": "` + key("", 24) + `"}`, `{"client_secret": "[redacted:secret]"}`},
		{"escaped json", `"{\"password\":\"tr0ub` + `4dor\"}"`, `"{\"password\":\"[redacted:password]\"}"`},
		{"yaml", "token: " + key("", 32), "token: [redacted:token]"},
		{"flag", "mysql --password hun" + "ter22 -h x", "mysql --password [redacted:password] -h x"},
		{"flag =", "tool --token=" + key("", 30), "tool --token=[redacted:token]"},
		{"query", "GET /x?token=" + key("", 20) + "&b=1", "GET /x?token=[redacted:token]&b=1"},
		{"a value longer than is judged", "token: " + key("", 3000) + " x", "token: [redacted:token] x"},
		{"private key", "a\n" + block("RSA PRIVATE KEY", body) + "\nb", "a\n[redacted:private_key]\nb"},
		{"private key in JSON", `"` + strings.ReplaceAll(block("PRIVATE KEY", body), "\n", `\n`) + `"`, `"[redacted:private_key]"`},
		{"private key, end lost", pemBegin + "EC PRIVATE KEY-----\n" + strings.TrimSuffix(body, "Qk8s==\n") + "\nThat is all.", "[redacted:private_key]\n\nThat is all."},
		{"private key, begin lost", "so:\n" + body + pemEnd + "PRIVATE KEY-----\nb", "so[redacted:private_key]\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n := Text(tt.in)
			want := tt.want
			if tt.name == "private key, end lost" || tt.name == "private key, begin lost" {
				// where exactly the body's white space goes is not the point
				if strings.Contains(got, "MIIEv") || !strings.Contains(got, "[redacted:private_key]") || n != 1 {
					t.Fatalf("Text(%q) = %q, %d", tt.in, got, n)
				}
				return
			}
			if got != want || n != strings.Count(want, "[redacted:") {
				t.Errorf("Text(%q)\n got %q, %d\nwant %q", tt.in, got, n, want)
			}
			if again, n := Text(got); again != got || n != 0 {
				t.Errorf("a second time: %q, %d", again, n)
			}
		})
	}
}

func TestLeavesTheRestAlone(t *testing.T) {
	for _, s := range []string{
		"", "plain words about a secret token and a password: none here",
		`token := lexer.Next()`, `password = os.Getenv("DB_PASSWORD_2")`, `Token: token.IDENT2,`, `secret: string;`,
		`apiKey = config.apiKey2`, `max_tokens=16000`, `tokenizer: "cl100k_base"`, `password: process.env.PASS1`,
		`PASSWORD=$DB_PASSWORD`, `PASSWORD=${X:-y1}`, `token = "<your-token-1>"`, `SECRET_FILE=/run/secrets/a1`, `secret: /run/secrets/abc123def456`,
		`cmd.Env = append(cmd.Env, "PWD="+cmd.Dir2)`, `"TOKEN="+makeToken2(x)`, `PWD=C2x!abcdefg`,
		`--- PASS: TestReconnect/case#01 (0.00s)`, `"token": "unexpected token 2 in line 4"`,
		`func (t *Token256) Secret() {}`, `if token == sha256Token1 {`, `Secret::new(a1b2c3d4e5f6)`,
		"sk-loading-spinner-container-wide", "risk-" + chance, "ghp" + "_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"basic authentication, Basic understanding, BASIC programs", "npm_configurationForThePackageManagerOfTheHouse", "http://host:8080#a@b", "https://docs.example.com/a#b:c@d", `C:\x64\ebin`,
		"AKIA and ASIA are prefixes", "AKIA" + upper(chance[:20]), "eyJhbGciOi is how they begin",
		"https://example.com/a:b@c", "see http://host:8080/@scope/pkg", "https://user:$PASS@host", "https://user:password@host", "ssh://git@host:22/x",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "----------", "\\", "%", "\x1b[", `\u00`,
		"thr_01a22e96-9e0a-7571-a44e-4913f99f172c sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"[redacted:password]", "PASSWORD=[redacted:password]", "[[run go test ./...]] [[say token=1]]",
	} {
		if got, n := Text(s); got != s || n != 0 {
			t.Errorf("Text(%q) = %q, %d", s, got, n)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"token: " + chance, block("PRIVATE KEY", body), aws + " " + jwt, "://" + "a:b@c", `\"secret\":\"` + chance,
		"Basic " + key("dXNlcjpodW50", 12) + " token=", "https://" + "a:b#c@" + chance + "@d", "AKIA" + upper(chance[:16]) + " " + chance[:40], "é\xffpassword=é" + chance,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, n := Text(s)
		if (n == 0) != (got == s) {
			t.Fatalf("Text(%q) = %q, %d", s, got, n)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("Text(%q) = %q: no UTF-8", s, got)
		}
		if strings.Count(got, "[redacted:") < n {
			t.Fatalf("Text(%q) = %q counts %d", s, got, n)
		}
		if again, n := Text(got); again != got || n != 0 {
			t.Fatalf("Text(%q) = %q, and of that %q, %d", s, got, again, n)
		}
	})
}

// Time grows with length alone, for one line of megabytes too: what makes one
// scan begin anew inside another would take minutes here, not 0.1 s.
func TestLinear(t *testing.T) {
	for _, unit := range []string{
		"eyJ.", "eyJhbGciOiJI.eyJ", "token=", "x=\"", "password=é", "SG.", "://", "://a:", "://a:b#", "://aB3dE5gH7", pemBegin + "PRIVATE KEY-----",
		pemEnd + "PRIVATE KEY-----", pemEnd + `PRIVATE KEY-----\n`, "sk-", "npm_aB", "a", "aB3", "password: \"", "--token ", "AKIA ", "AKIAAAAAAAAAAAAAAAAA ",
		"Basic ", "Basic YXBw", "hooks.slack.com/services/", `\u001b[1`, "\x1b[", `\`, "\n",
	} {
		s := strings.Repeat(unit, (2<<20)/len(unit))
		began := time.Now()
		if Text(s); time.Since(began) > 10*time.Second {
			t.Errorf("%q: 2 MB take %v", unit, time.Since(began))
		}
	}
	long := "://a:" + strings.Repeat("1", 1<<20) + "x" + strings.Repeat("#", 1<<20) + "@h"
	if _, n := Text(long); n != 1 {
		t.Errorf("a long password of a URL: %d found", n)
	}
}

func BenchmarkSource(b *testing.B) {
	bench(b, "\tif token := lexer.Next(); token.Kind == IDENT && !seen[token.Text] {\n\t\treturn fmt.Errorf(\"line %d: %w\", token.Line, err)\n\t}\n")
}
func BenchmarkSecrets(b *testing.B) {
	bench(b, "DB_PASSWORD="+chance[:12]+"9! "+key("ghp"+"_", 36)+"\n")
}
func BenchmarkAssignments(b *testing.B) { bench(b, "token=") }

func bench(b *testing.B, unit string) {
	s := strings.Repeat(unit, (1<<20)/len(unit))
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
