// Package httpapi is what clients call: commands in, read models and a stream
// of events out, over a unix socket. The wire structs live here; OpenAPI 3.1 is
// generated from them at /openapi.json.
//
// Shapes are snake_case; an absent field is unknown, times are RFC 3339 in UTC,
// intervals are inclusive pairs. A list is {"items":[…],"next":cursor}, where a
// missing next means that this is the end. The list of threads has a ThreadRow
// for each, and comes packed where Accept-Encoding names gzip. An error is
// problem+json with a stable code and a hint.
//
// A command carries a command_id made by the client: the same id again gives
// the first answer, the same id for something else is a conflict. Without one
// the server makes one up, and a repetition is a second command.
//
// # Stream
//
// GET /api/threads/{id}/stream?after=VERSION gives a thread's events as
// server-sent events. Last-Event-ID, where it is sent, wins over after.
//
//	event: event      id: VERSION   data: Event
//	event: delta                    data: Delta, text of an item that is open
//	event: caught_up                data: {"version":VERSION}
//	: alive                         now and then, so that a dead connection is noticed
//
// First come the events behind the cursor, then the text that open items hold
// so far, then caught_up, then what happens. A delta says by item, revision,
// output and offset where its text belongs; one that a reader has already is to
// be dropped. An item's closing event carries the text that counts. A reader
// that is too slow is cut off and comes back with its cursor.
//
// # Who may call
//
// The socket lies in a 0700 directory. A peer of another user is refused, and
// on Linux one that runs under an agent: an agent can't approve itself.
package httpapi
