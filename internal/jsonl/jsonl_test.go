package jsonl

import "testing"

func TestDecode(t *testing.T) {
	tests := []struct {
		line string
		kind Kind
		id   string
	}{
		{`{"id":0,"method":"item/x","params":{}}`, Request, ""},
		{`{"method":"x"}`, Notification, ""},
		{`{"method":"x","id":null}`, Notification, ""},
		{`{"id":"s-1","result":{}}`, Response, "s-1"},
		{`{"id":"a\"b","error":{"code":-32600,"message":"m"}}`, Response, `a"b`},
		{`{"id":7,"result":null}`, Response, ""},
		{`[1]`, Malformed, ""},
		{`{}`, Malformed, ""},
		{`nonsense`, Malformed, ""},
		{``, Malformed, ""},
	}
	for _, tt := range tests {
		m, kind := Decode([]byte(tt.line))
		if id, _ := m.StringID(); kind != tt.kind || id != tt.id {
			t.Errorf("Decode(%s) = kind %d id %q, want %d %q", tt.line, kind, id, tt.kind, tt.id)
		}
	}
}

func TestLineKeepsHTML(t *testing.T) {
	if got := string(Line(map[string]string{"a": "<b>&"})); got != "{\"a\":\"<b>&\"}\n" {
		t.Fatalf("Line = %q", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"x","method":"y"}`))
	f.Fuzz(func(_ *testing.T, line []byte) { m, _ := Decode(line); m.StringID() })
}
