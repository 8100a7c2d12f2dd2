package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"baton"
)

// Examine looks at the places: that they are there and ours, and how much lies
// in them.
func (p Places) Examine() []Check {
	data := Check{Name: "data", Status: StatusOK, Detail: p.Data}
	if err := p.Make(); err != nil {
		e := baton.AsError(err)
		data = Check{Name: "data", Status: StatusError, Detail: e.Error(), Hint: e.Hint}
	} else {
		database := size(p.Database) + size(p.Database+"-wal")
		data.Detail += fmt.Sprintf(": %s of database, %s of spools, %s of log", amount(database), amount(size(p.Sessions)), amount(size(p.Log)))
	}
	return []Check{data, {Name: "sockets", Status: StatusOK, Detail: p.Runtime}}
}

// ExamineConfig looks whether there is a configuration file that can be read;
// err is what Load said of it.
func (p Places) ExamineConfig(err error) Check {
	c := Check{Name: "configuration", Status: StatusOK, Detail: p.Config}
	switch _, gone := os.Stat(p.Config); {
	case err != nil:
		e := baton.AsError(err)
		c.Status, c.Detail, c.Hint = StatusError, e.Error(), e.Hint
	case errors.Is(gone, fs.ErrNotExist):
		c.Status, c.Detail = StatusNone, "none, and none is needed; it would be "+p.Config
	}
	return c
}

// size is how many bytes lie at and below a path; what can't be read counts nothing.
func size(path string) (n int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return nil
	})
	return n
}

// amount writes a size as people do.
func amount(n int64) string {
	f, unit := float64(n), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, next
	}
	if f < 10 && unit != "B" {
		return fmt.Sprintf("%.1f %s", f, unit)
	}
	return fmt.Sprintf("%.0f %s", f, unit)
}
