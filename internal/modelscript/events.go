package modelscript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// events writes server-sent events and flushes each.
type events struct{ w http.ResponseWriter }

func (e events) start() {
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-cache")
	e.w.WriteHeader(http.StatusOK)
}

func (e events) event(kind string, v any) error {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	// Encode ends with a line break, the empty line ends the event.
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n", kind, data.Bytes()); err != nil {
		return err
	}
	return http.NewResponseController(e.w).Flush()
}
