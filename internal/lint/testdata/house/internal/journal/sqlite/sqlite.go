package sqlite

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

var _ = sql.Open
