// Package httpapi is what clients call: commands in, read models and a stream
// of events out, over a unix socket, and for a browser over TCP. The wire
// structs live here; OpenAPI 3.1 is generated from them at /openapi.json.
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
// GET /api/streams brings threads and the list of threads as server-sent
// events, as many as a browser needs over one connection; POST
// /api/streams/{id} changes what it brings. The protocol is told in
// stream_doc.go, which is the operation's description in OpenAPI.
//
// # Who may call
//
// The socket lies in a 0700 directory. A peer of another user is refused, and
// on Linux one that runs under an agent: an agent can't approve itself.
//
// A browser comes over TCP to a Door. `baton open` asks for a link on the
// socket (POST /api/page/link); who opens it, once and within a minute, gets a
// cookie that lives for 30 days and is sent on to /. Everything else needs that
// cookie. What socketOnly names (/api/server/…, /api/page/…, /api/debug/… and
// some more) is on the socket alone.
// The codes of refusals are foreign_host, foreign_origin, signed_out, link_over
// and forbidden; a browser's navigation is answered with a page that says the
// same. docs/threat-model.md says what each check is for.
package httpapi
