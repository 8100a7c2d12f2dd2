package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/httpapi"
	"baton/internal/shim"
)

func (a *app) openCmd() *cobra.Command {
	var print, forget bool
	cmd := &cobra.Command{
		Use:   "open",
		Short: "Open the page in a browser, by a link that works once",
		Long: `Open the page in a browser, by a link that works once and for a minute. The link
is printed too; with --print or --json, or without a display, that is all. Through
the link the browser gets a cookie that lets it in for 30 days.`,
		Example: "  baton open\n  baton open --print\n  baton open --forget    # every browser has to be let in again",
		Args:    needs(),
		RunE: a.withServer(func(ctx context.Context, c *client.Client, _ []string) error {
			if forget {
				return a.forgetBrowsers(ctx, c)
			}
			var link httpapi.PageLink
			if err := c.Post(ctx, "/api/page/link", nil, &link); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(link)
			}
			fmt.Fprintln(a.out, link.URL)
			if opener := a.opener(); opener != "" && !print {
				if err := shim.Detached([]string{opener, link.URL}, a.environment()); err != nil {
					fmt.Fprintf(a.err, "no browser was opened: %v\n", err)
				}
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&print, "print", false, "print the link and open no browser")
	cmd.Flags().BoolVar(&forget, "forget", false, "take back all links and let no browser in that was let in before")
	return cmd
}

func (a *app) forgetBrowsers(ctx context.Context, c *client.Client) error {
	var out httpapi.Forgotten
	if err := c.Post(ctx, "/api/page/forget", nil, &out); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.out, "browsers that were let in and are no more: %d\n", out.Forgotten)
	return nil
}

// opener is the program that opens a browser, "" where there is no display.
func (a *app) opener() string {
	switch {
	case runtime.GOOS == "darwin" && a.env["SSH_CONNECTION"] == "":
		return "open"
	case a.env["DISPLAY"] != "" || a.env["WAYLAND_DISPLAY"] != "":
		return "xdg-open"
	}
	return ""
}

// openDoor opens the page's address: what the flags say, else the
// configuration, else the default, which a server can do without.
func openDoor(page httpapi.PageAddress, cfg config.Page, places config.Places, log *slog.Logger) (*httpapi.Door, error) {
	page.Address = cmp.Or(page.Address, cfg.Address)
	l, err := page.Listen()
	if err != nil && page == (httpapi.PageAddress{}) {
		log.Warn("there is no page", "error", err)
		return nil, nil
	}
	if l == nil || err != nil {
		return nil, err
	}
	log.Info("page", "url", l.URL())
	return httpapi.NewDoor(httpapi.DoorConfig{Listener: l, Cookies: places.Browsers, LinkLife: cfg.LinkLife, Now: func() time.Time { return time.Now().UTC() }})
}
