package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"baton"
	"baton/internal/cleanlog"
	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/engine"
	"baton/internal/httpapi"
	"baton/internal/journal/sqlite"
	"baton/internal/shim"
)

// stopTime is how long `serve --stop` waits for the server to end.
const stopTime = 30 * time.Second

func (a *app) serveCmd() *cobra.Command {
	var stop bool
	var page httpapi.PageAddress
	readyFD := 0
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server in the foreground; other commands start it by themselves",
		Long: `Run the server in the foreground. Other commands start one in the background
when none runs. When it ends, agents go on under their shims, and the next server
takes them up again.

Clients use a unix socket. The page for a browser is served on 127.0.0.1, where
` + "`baton open`" + ` lets a browser in; --listen or [page] address in the
configuration names another port or "off". An address that other machines can
reach takes a certificate and --allow-network.`,
		Example: `  baton serve
  baton serve --listen 127.0.0.1:8080
  baton serve --listen 192.0.2.7:8443 --tls-cert cert.pem --tls-key key.pem --allow-network
  baton serve --stop`,
		Args: needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stop {
				return a.stopServer(cmd.Context())
			}
			ready := func(string) {}
			if readyFD > 0 {
				// What is started from here on must not hold the pipe open.
				syscall.CloseOnExec(readyFD)
				pipe := os.NewFile(uintptr(readyFD), "ready")
				ready = func(s string) { fmt.Fprint(pipe, s); pipe.Close() }
			}
			err := a.serve(cmd.Context(), page, func() { ready(client.Ready) }, readyFD == 0)
			if err != nil && readyFD > 0 {
				b, _ := json.Marshal(baton.AsError(err))
				ready(string(b))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&stop, "stop", false, "end the running server; agents go on")
	cmd.Flags().StringVar(&page.Address, "listen", "", "address of the page, or \"off\"")
	cmd.Flags().StringVar(&page.TLSCert, "tls-cert", "", "certificate of the page, PEM")
	cmd.Flags().StringVar(&page.TLSKey, "tls-key", "", "its key, PEM")
	cmd.Flags().BoolVar(&page.AllowNetwork, "allow-network", false, "let other machines reach the page")
	cmd.Flags().IntVar(&readyFD, "ready-fd", 0, "descriptor on which to say that the server is up, or why not")
	_ = cmd.Flags().MarkHidden("ready-fd")
	return cmd
}

func (a *app) stopServer(ctx context.Context) error {
	p, err := a.places()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	ran, err := client.Stop(ctx, p)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]bool{"stopped": ran})
	}
	if !ran {
		fmt.Fprintln(a.out, "no server runs")
		return nil
	}
	fmt.Fprintln(a.out, "the server has ended; agents that are at work go on")
	return nil
}

// serve runs the server until ctx ends.
func (a *app) serve(ctx context.Context, page httpapi.PageAddress, ready func(), foreground bool) error {
	places, err := a.places()
	if err != nil {
		return err
	}
	registry := drivers()
	cfg, err := config.Load(places.Config, registry)
	if err != nil {
		return err
	}
	if err := places.Make(); err != nil {
		return err
	}
	unlock, err := lockData(places)
	if err != nil {
		return err
	}
	defer unlock()
	log, closeLog, err := openLog(places.Log)
	if err != nil {
		return err
	}
	defer closeLog()
	if err := shim.BecomeSubreaper(); err != nil {
		log.Warn("orphans of a killed shim won't come to this process", "error", err)
	}
	j, err := sqlite.Open(places.Database, sqlite.Options{})
	if err != nil {
		return openError(places.Database, err)
	}
	defer j.Close()
	providers := config.NewProviders(cfg, registry, places, a.self, a.env)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cfg.Policy.HandoffTokens = cfg.BudgetTokens
	eng, err := engine.New(ctx, engine.Config{
		Journal: j, Drivers: registry, Providers: providers, Policy: cfg.Policy, Self: a.self, Sessions: places.Sessions, Runtime: places.Runtime,
		Version: buildVersion(), HostEnv: a.env, Now: func() time.Time { return time.Now().UTC() },
		NewID: newID, NewNonce: newNonce, Log: log, Fenced: stop,
	})
	if err != nil {
		return err
	}
	defer eng.Close()
	door, err := openDoor(page, cfg.Page, places, log)
	if err != nil {
		return err
	}
	listener, err := httpapi.Listen(places.Socket)
	if err != nil {
		door.Close()
		return err
	}
	api := httpapi.New(httpapi.Config{Engine: eng, Providers: providers, Places: places, Version: buildVersion(), NewID: newID,
		Probe: shim.Output, Log: log, Stop: stop, Backup: j.Backup, Door: door})
	if err := eng.Start(ctx); err != nil {
		listener.Close()
		door.Close()
		return err
	}
	log.Info("serving", "version", buildVersion(), "pid", os.Getpid(), "socket", places.Socket)
	if foreground {
		fmt.Fprintf(a.err, "baton %s serves %s (pid %d); Ctrl-C ends it, agents go on\n", buildVersion(), places.Data, os.Getpid())
	}
	ready()
	err = api.Serve(ctx, listener)
	log.Info("ending", "error", err)
	return err
}

// lockData makes sure that one server has the data. The lock ends with the
// process, however that ends; the file holds its pid for people.
func lockData(p config.Places) (func(), error) {
	f, err := os.OpenFile(p.Lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, baton.Errorf(baton.CodeConfig, "the data directory can't be used").WithDetail("%v", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		return nil, baton.Errorf(baton.CodeDataLocked, "another server holds %s", p.Data).
			WithDetail("it is process %s; nothing was started", strings.TrimSpace(string(holder))).
			WithHint("use that one, or end it with `baton serve --stop`")
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return func() { f.Close() }, nil
}

// openLog opens the server's log, from which secrets are kept.
func openLog(path string) (*slog.Logger, func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, baton.Errorf(baton.CodeConfig, "the log can't be written").WithDetail("%v", err)
	}
	return slog.New(cleanlog.New(slog.NewTextHandler(f, nil))), func() { f.Close() }, nil
}

// openError tells what to do about a database that can't be opened.
func openError(path string, err error) error {
	var e *baton.Error
	if errors.As(err, &e) {
		return err
	}
	return baton.Errorf(baton.CodeInternal, "the database %s can't be opened", path).WithDetail("%v; nothing was changed", err).
		WithHint("see to the disk and the file's permissions")
}

func newID(prefix string) string { return prefix + "_" + uuid.Must(uuid.NewV7()).String() }

func newNonce() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
