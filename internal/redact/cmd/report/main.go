// Command report measures package redact: what it finds of planted keys, what
// it takes for a secret in code that holds none, and how fast it is.
//
//	go run ./internal/redact/cmd/report [-alarms] [DIR …]
//	go run ./internal/redact/cmd/report . $(go env GOROOT)/src
//
// Without a directory it reads the one that it is run in. With -alarms it names
// each place.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
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
		dirs = []string{"."}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	recall(out)
	logs(out)
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

// logs tells the speed on a megabyte of log.
func logs(out io.Writer) {
	const line = "2026-11-30T12:00:01.123Z INFO a unit was stored thread=thr_01a22e96-9e0a-7571-a44e-4913f99f172c events=4 tokens=1234 took=1.2ms\n"
	s := strings.Repeat(line, (1<<20)/len(line))
	began := time.Now()
	_, n := redact.Text(s)
	fmt.Fprintf(out, "1 MB of log\t%d lines\t%d alarms\t\t%.0f MB/s\n", strings.Count(s, "\n"), n, float64(len(s))/1e6/time.Since(began).Seconds())
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
