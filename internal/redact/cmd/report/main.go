// Command report measures package redact: what it finds of planted keys, what
// it takes for a secret in code that holds none, and how fast it is.
//
//	go run ./internal/redact/cmd/report [-alarms] [DIR …]
//
// Without a directory it reads the repository (it is run in its root) and the
// source of Go. With -alarms it names each place.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"baton/internal/redact"
	"baton/internal/redact/redacttest"
)

func main() {
	alarms := flag.Bool("alarms", false, "name each place that was taken for a secret")
	flag.Parse()
	dirs := flag.Args()
	if len(dirs) == 0 {
		dirs = []string{".", filepath.Join(runtime.GOROOT(), "src")}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	recall(out)
	for _, dir := range dirs {
		if err := code(out, dir, *alarms); err != nil {
			fmt.Fprintln(os.Stderr, "report:", err)
			os.Exit(2)
		}
	}
	out.Flush()
}

// recall tells for each issuer how many of its keys are gone.
func recall(out io.Writer) {
	var order []string
	all, gone := map[string]int{}, map[string]int{}
	missed := map[string][]string{}
	for _, p := range redacttest.Plants(25) {
		if all[p.Issuer] == 0 {
			order = append(order, p.Issuer)
		}
		all[p.Issuer]++
		if got, _ := redact.Text(p.Text); redacttest.Left(got, p.Secret) == "" {
			gone[p.Issuer]++
		} else if len(missed[p.Issuer]) < 3 {
			missed[p.Issuer] = append(missed[p.Issuer], p.Where)
		}
	}
	fmt.Fprintln(out, "keys of\tplanted\tremoved\tleft in")
	total, found := 0, 0
	for _, k := range order {
		total, found = total+all[k], found+gone[k]
		fmt.Fprintf(out, "%s\t%d\t%d\t%s\n", k, all[k], gone[k], strings.Join(missed[k], "; "))
	}
	fmt.Fprintf(out, "all\t%d\t%d\t\n\n", total, found)
}

// code tells the false alarms and the speed on a body of code.
func code(out io.Writer, dir string, name bool) error {
	began := time.Now()
	c, err := redacttest.Code(os.DirFS(dir), func(p string) bool { return strings.HasSuffix(p, ".go") })
	if err != nil {
		return err
	}
	took := time.Since(began)
	fmt.Fprintf(out, "%s\t%d lines\t%d alarms\t%.3f for 1,000 lines\t%.0f MB/s, reading included\n",
		dir, c.Lines, c.Secrets, c.Rate(), float64(c.Bytes)/1e6/took.Seconds())
	if name {
		for _, a := range c.Alarms {
			fmt.Fprintf(out, "%s:%d: %s: %.160s\n", a.Path, a.Line, a.Kind, strings.TrimSpace(a.Text))
		}
	}
	return nil
}
