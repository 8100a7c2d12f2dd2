package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/errors"
)

// TestTheDescriptionIsValid holds /openapi.json to the schema of OpenAPI 3.1,
// and real answers, good and bad, to /openapi.json.
func TestTheDescriptionIsValid(t *testing.T) {
	r := newRig(t, nil)
	_, spec := r.do("GET", "/openapi.json", "")
	doc, err := libopenapi.NewDocument(spec)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	defer v.Release()
	if ok, found := v.ValidateDocument(); !ok {
		t.Fatalf("the description is not valid: %s", told(found))
	}

	th := r.thread("described")
	message := `{"text":"hello"}`
	r.do("POST", "/api/threads/"+th.ID+"/messages", message)
	for _, x := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/api/server", "", 200},
		{"GET", "/api/providers", "", 200},
		{"GET", "/api/threads", "", 200},
		{"GET", "/api/threads/" + th.ID, "", 200},
		{"GET", "/api/threads/" + th.ID + "/items", "", 200},
		{"GET", "/api/threads/" + th.ID + "/coverage", "", 200},
		{"GET", "/api/threads/" + th.ID + "/transfers", "", 200},
		{"GET", "/api/threads/" + th.ID + "/handoffs", "", 200},
		{"GET", "/api/debug/threads/" + th.ID + "/events", "", 200},
		{"GET", "/api/debug/threads/" + th.ID + "/effects", "", 200},
		{"GET", "/api/debug/threads/" + th.ID + "/deliveries", "", 200},
		{"GET", "/api/requests", "", 200},
		{"GET", "/api/threads/thr_nothing", "", 404},
		{"POST", "/api/threads", `{"title":"two","dir":` + quote(r.dir) + `}`, 200},
		{"POST", "/api/threads/" + th.ID + "/messages", message, 200},
		{"POST", "/api/threads/" + th.ID + "/messages", `{"text":" "}`, 422},
		{"POST", "/api/threads/" + th.ID + "/stop", `{}`, 200},
		{"POST", "/api/page/link", `{}`, 501},
	} {
		req, err := http.NewRequestWithContext(t.Context(), x.method, "http://baton"+x.path, strings.NewReader(x.body))
		if err != nil {
			t.Fatal(err)
		}
		if x.body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		res, err := r.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != x.status {
			t.Errorf("%s %s: %d %s %v", x.method, x.path, res.StatusCode, b, err)
		}
		res.Body = io.NopCloser(bytes.NewReader(b))
		req.Body = io.NopCloser(strings.NewReader(x.body))
		if ok, found := v.ValidateHttpRequestResponse(req, res); !ok {
			t.Errorf("%s %s: %s\n%s", x.method, x.path, told(found), b)
		}
	}
}

func told(found []*errors.ValidationError) string {
	var out strings.Builder
	for _, e := range found {
		out.WriteString(e.Message + ": " + e.Reason)
		for _, s := range e.SchemaValidationErrors {
			out.WriteString("\n  " + s.Reason + " at " + s.FieldPath)
		}
		out.WriteString("\n")
	}
	return out.String()
}
