package decide

import (
	"os"
	"time"

	"baton/internal/engine"
)

var _ = os.Stdout
var _ = engine.New
var _ = time.Now
