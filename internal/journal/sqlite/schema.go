package sqlite

// applicationID marks the file as Baton's ("BATN").
const applicationID = 0x4241544e

// migrations take a database forward, one step each; the number of steps taken
// is its user_version. A released step is never changed: a new one is added.
var migrations = []string{
	// 1: the first shape.
	`
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) WITHOUT ROWID;

-- The truth. at and committed are nanoseconds since 1970, 0 for unknown.
CREATE TABLE events (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT,
	thread    TEXT NOT NULL,
	version   INTEGER NOT NULL,
	type      TEXT NOT NULL,
	shape     INTEGER NOT NULL,
	actor     TEXT NOT NULL,
	cause     TEXT NOT NULL,
	epoch     INTEGER NOT NULL,
	at        INTEGER NOT NULL,
	committed INTEGER NOT NULL,
	data      TEXT NOT NULL
);
CREATE UNIQUE INDEX events_version ON events (thread, version);

CREATE TABLE threads (
	id         TEXT PRIMARY KEY,
	version    INTEGER NOT NULL,
	epoch      INTEGER NOT NULL,
	stop_epoch INTEGER NOT NULL,
	settled    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX threads_unsettled ON threads (id) WHERE settled = 0;

CREATE TABLE snapshots (
	thread  TEXT PRIMARY KEY,
	version INTEGER NOT NULL,
	shape   INTEGER NOT NULL,
	state   TEXT NOT NULL
);

CREATE TABLE receipts (
	command TEXT PRIMARY KEY,
	hash    TEXT NOT NULL,
	answer  TEXT NOT NULL
) WITHOUT ROWID;

-- Effects that have not ended; num is the order in which they were asked.
CREATE TABLE effects (
	num     INTEGER PRIMARY KEY AUTOINCREMENT,
	id      TEXT NOT NULL UNIQUE,
	thread  TEXT NOT NULL,
	session TEXT NOT NULL,
	lane    TEXT NOT NULL,
	type    TEXT NOT NULL,
	data    TEXT NOT NULL,
	large   INTEGER NOT NULL -- of parts that hold the data, 0 where data has it
);
CREATE INDEX effects_thread ON effects (thread, num);
CREATE TABLE parts (
	large INTEGER NOT NULL,
	part  INTEGER NOT NULL,
	data  BLOB NOT NULL
);
CREATE UNIQUE INDEX parts_of ON parts (large, part);

CREATE TABLE sessions (
	id     TEXT PRIMARY KEY,
	thread TEXT NOT NULL,
	frame  INTEGER NOT NULL,
	state  BLOB
);
CREATE INDEX sessions_thread ON sessions (thread, id);

-- How far the text of an item has come, and the text of its newest revision.
CREATE TABLE streams (
	item     TEXT PRIMARY KEY,
	thread   TEXT NOT NULL,
	revision INTEGER NOT NULL,
	text     INTEGER NOT NULL,
	output   INTEGER NOT NULL,
	open     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX streams_open ON streams (thread, item) WHERE open = 1;
CREATE TABLE chunks (
	item   TEXT NOT NULL,
	output INTEGER NOT NULL,
	start  INTEGER NOT NULL,
	size   INTEGER NOT NULL,
	text   TEXT NOT NULL
);
CREATE UNIQUE INDEX chunks_start ON chunks (item, output, start);

-- The read models: the fold of journal.Project over the events.
CREATE TABLE documents (
	kind     TEXT NOT NULL,
	id       TEXT NOT NULL,
	thread   TEXT NOT NULL,
	run      TEXT NOT NULL,
	position INTEGER NOT NULL,
	body     TEXT NOT NULL,
	PRIMARY KEY (kind, id)
);
CREATE INDEX documents_thread ON documents (kind, thread, position, id);
CREATE INDEX documents_run ON documents (kind, run, position, id) WHERE run <> '';
-- Nobody lists the items or nodes of all threads, and they are the most.
CREATE INDEX documents_all ON documents (kind, position, id) WHERE kind NOT IN ('item', 'node');
`,
	// 2: projects, with one for each directory that a thread works in. Ids are of
	// version 7: the time, then what is random.
	`
CREATE TABLE projects (
	dir        TEXT PRIMARY KEY,
	id         TEXT NOT NULL UNIQUE,
	trusted    INTEGER NOT NULL,
	changed_by TEXT NOT NULL,
	changed_at INTEGER NOT NULL,
	created_at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO projects
SELECT dir, printf('prj_%s-%s-7%s-%s%s-%s', substr(ms, 1, 8), substr(ms, 9), substr(rnd, 1, 3), substr('89ab', 1 + abs(random() % 4), 1), substr(rnd, 4, 3), substr(rnd, 7, 12)), 0, '', 0, at
FROM (SELECT dir, at, printf('%012x', at / 1000000) AS ms, lower(hex(randomblob(9))) AS rnd
	FROM (SELECT json_extract(data, '$.dir') AS dir, min(at) AS at FROM events WHERE type = 'thread.created' GROUP BY 1) WHERE dir <> '');
`,
}
