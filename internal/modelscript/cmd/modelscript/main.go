// Command modelscript runs the scripted model server by hand, so that an agent
// can be pointed at it from a shell:
//
//	go run ./internal/modelscript/cmd/modelscript -addr 127.0.0.1:4141 -record requests.jsonl
//
// It prints its address and runs until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"baton/internal/modelscript"
)

func main() {
	var o modelscript.Options
	flag.StringVar(&o.Addr, "addr", "127.0.0.1:0", "address to listen on")
	flag.StringVar(&o.Record, "record", "", "file to append a JSON line to for each request")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "modelscript:", err)
		os.Exit(1)
	}
}

func run(o modelscript.Options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := modelscript.Start(o)
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	<-ctx.Done()
	return s.Close()
}
