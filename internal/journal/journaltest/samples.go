package journaltest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"baton"
)

// epoch is when everything in the suite begins.
var epoch = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

var texts = []string{"plain", "two\nlines", `"quoted" <b>&amp;</b>`, "héllo, 世界 🙂", "null", "\u0001control"}

var itemKinds = []baton.ItemKind{baton.ItemUserMessage, baton.ItemAssistantMessage, baton.ItemCommand, baton.ItemTodo, baton.ItemNotice, baton.ItemHandoff}

// Sample returns an event of the type with every field set. Ids come from a
// few, so that samples speak of the same things. The same random source gives
// the same sample.
func Sample(r *rand.Rand, kind string) baton.EventData {
	t, ok := baton.EventTypes()[kind]
	if !ok {
		panic("journaltest: no event type " + kind)
	}
	v := reflect.New(t).Elem()
	fill(r, v)
	return v.Interface().(baton.EventData)
}

// Types returns the known types of events, in order.
func Types() []string {
	var all []string
	for kind := range baton.EventTypes() {
		all = append(all, kind)
	}
	slices.Sort(all)
	return all
}

func fill(r *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(epoch.Add(time.Duration(1+r.IntN(1e9)) * time.Microsecond)))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":[1,null,{"b":null}],"c":1.50,"d":"<>"}`)))
		return
	case baton.Intervals:
		from := 1 + r.IntN(5)
		v.Set(reflect.ValueOf(baton.Ordinals(from, from+1, from+3)))
		return
	case baton.ItemKind:
		v.Set(reflect.ValueOf(itemKinds[r.IntN(len(itemKinds))]))
		return
	}
	switch v.Kind() {
	case reflect.String:
		s := texts[r.IntN(len(texts))]
		if name, ok := strings.CutSuffix(v.Type().Name(), "ID"); ok {
			s = fmt.Sprintf("%s_%d", strings.ToLower(name), r.IntN(3))
		}
		v.SetString(s)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(1 + r.IntN(9)))
	case reflect.Uint64:
		v.SetUint(uint64(1 + r.IntN(9)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(2), 2))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(r, key)
		fill(r, value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	default:
		panic("journaltest: no sample of a " + v.Type().String())
	}
}
