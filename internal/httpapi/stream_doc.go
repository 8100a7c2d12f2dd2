package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// streamDoc is the protocol, for who writes a client.
const streamDoc = `One connection brings all that a client shows: the threads that are open in it, and the list of threads.

What comes, each as a server-sent event with JSON as its data:

| event | data | |
|---|---|---|
| ` + "`open`" + ` | Opened | first: the stream's id, for POST /api/streams/{id} |
| ` + "`snapshot`" + ` | Snapshot | a thread as it is; replaces what the reader has of it |
| ` + "`event`" + ` | Event | one transition of a thread |
| ` + "`delta`" + ` | Delta | text of an open item |
| ` + "`list`" + ` | a page of Thread | the beginning of the list; replaces what the reader has of it |
| ` + "`row`" + ` | Thread | a thread as the list shows it now |
| ` + "`caught_up`" + ` | CaughtUp | what follows of this thread, or of the list, is live |
| ` + "`left`" + ` | Left | nothing more of this thread comes, unless it is subscribed to again |
| ` + "`live`" + ` | {} | all that was asked for with the stream is there |

A comment comes now and then, so that a dead connection is noticed. Types that a reader does not know are to be left out.

**Order.** For each thread: a snapshot or the events behind the cursor, then the text that open items hold so far, then
` + "`caught_up`" + `, then what happens. An event's version counts a thread's events without gaps: one that the reader has is
to be dropped, and behind a gap the reader opens the stream again. Events of all threads come in the journal's order.

**Cursors.** ` + "`thread=ID@VERSION`" + ` brings the events behind that version, or a snapshot where they are more than 1000;
` + "`thread=ID`" + ` brings a snapshot. With ` + "`snapshots=false`" + ` it is always events, all of them. An id comes with live messages and is
opaque: given back as ` + "`after`" + ` it is the cursor of the list and of each thread without a version of its own. All that came
with or before the id is known by it; what was subscribed to just before may come again, with the same versions. A browser
that comes back by itself sends it as Last-Event-ID, with the address that it had: then it counts where it is further than
the versions there, and the client posts, once it has the new stream's id, what it has changed since.

**Changes.** What POST /api/streams/{id} asks for comes in the stream, in the order of the asking. Each thread that is
unsubscribed from is answered with ` + "`left`" + `: until then what comes of it is of the former subscription, also where it was
subscribed to again meanwhile, and is to be dropped.

**Text.** A delta says by item, revision, output and offset (UTF-16 code units) where its text belongs; one that is known is to
be dropped. A greater revision voids the text so far. A reader that comes back gets open texts from their beginning. The
event that closes an item carries the text that counts.

**List.** A row is sent when its thread's title, state, activity, requests or last run has changed, and changes that follow
each other closely are sent as one. Further pages are read with GET /api/threads; a row that came since such a page was asked
for counts more than the page.

**Slow readers.** One that does not take what comes is cut off, and comes back with its cursor.`

// streamMessages describes the messages.
func (s *Server) streamMessages() map[string]*huma.Response {
	registry := s.api.OpenAPI().Components.Schemas
	var kinds []*huma.Schema
	for _, m := range []struct {
		event string
		data  any
	}{
		{"open", Opened{}}, {"snapshot", Snapshot{}}, {"event", Event{}}, {"delta", Delta{}}, {"list", Page[ThreadRow]{}}, {"row", ThreadRow{}},
		{"caught_up", CaughtUp{}}, {"left", Left{}}, {"live", struct{}{}},
	} {
		kinds = append(kinds, &huma.Schema{Type: huma.TypeObject, Title: "Message " + m.event, Required: []string{"event", "data"},
			Properties: map[string]*huma.Schema{
				"event": {Type: huma.TypeString, Enum: []any{m.event}},
				"id":    {Type: huma.TypeString, Description: "opaque"},
				"data":  registry.Schema(reflect.TypeOf(m.data), true, "Live"),
			}})
	}
	return map[string]*huma.Response{"200": {Description: "the stream", Content: map[string]*huma.MediaType{
		"text/event-stream": {Schema: &huma.Schema{Title: "Messages", Type: huma.TypeArray, Items: &huma.Schema{OneOf: kinds}}}}}}
}
