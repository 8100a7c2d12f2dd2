package journal

import (
	"encoding/json"
	"testing"
)

func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"x\"}","c":{"d":[1,{"e":"]"}]},"f":null , "g" : true}`))
	f.Add([]byte(`{"a":"\\"}`))
	f.Add([]byte(`{"a`))
	f.Add([]byte(`{"a":]`))
	f.Fuzz(func(t *testing.T, object []byte) {
		got := map[string]string{}
		err := Members(object, func(name, value []byte) error {
			var key string
			if e := json.Unmarshal([]byte(`"`+string(name)+`"`), &key); e == nil {
				got[key] = string(value)
			}
			return nil
		})
		want := map[string]json.RawMessage{}
		if json.Unmarshal(object, &want) != nil || want == nil {
			return // only that it ends and does not panic
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %v, %v", object, err, got)
		}
		for name, value := range want {
			if got[name] != string(value) {
				t.Fatalf("%s: %q is %s, want %s", object, name, got[name], value)
			}
		}
	})
}
