package main

import (
	"context"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"baton/internal/client"
	"baton/internal/config"
	"baton/internal/httpapi"
)

// completing gives a client of a running server. Completion starts none and
// must not keep a person waiting.
func (a *app) completing(fn func(ctx context.Context, c *client.Client) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	p, err := a.places()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, _, err := client.Reachable(ctx, p.Socket)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	return fn(ctx, c), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func (a *app) completeThreads(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completing(func(ctx context.Context, c *client.Client) (out []string) {
		var p httpapi.Page[httpapi.ThreadRow]
		_ = c.Get(ctx, "/api/threads", url.Values{"limit": {"50"}}, &p)
		for _, t := range p.Items {
			out = append(out, t.ID+"\t"+cut(t.Title, 40))
		}
		return out
	})
}

// completeThreadsIn completes any number of threads in a state, or in `all`.
func (a *app) completeThreadsIn(state string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.completing(func(ctx context.Context, c *client.Client) (out []string) {
			var p httpapi.Page[httpapi.ThreadRow]
			_ = c.Get(ctx, "/api/threads", url.Values{"limit": {"50"}, "state": {state}}, &p)
			for _, t := range p.Items {
				out = append(out, t.ID+"\t"+cut(t.Title, 40))
			}
			return out
		})
	}
}

func (a *app) completeSessions(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completing(func(ctx context.Context, c *client.Client) (out []string) {
		var p httpapi.Page[httpapi.LivingSession]
		_ = c.Get(ctx, "/api/sessions", nil, &p)
		for _, x := range p.Items {
			out = append(out, x.ID+"\t"+cut(x.Provider+" "+x.Activity+" "+x.ThreadTitle, 60))
		}
		return out
	})
}

func (a *app) completeHandoffs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completing(func(ctx context.Context, c *client.Client) (out []string) {
		var threads httpapi.Page[httpapi.ThreadRow]
		_ = c.Get(ctx, "/api/threads", url.Values{"limit": {"10"}}, &threads)
		for _, t := range threads.Items {
			var p httpapi.Page[httpapi.Handoff]
			_ = c.Get(ctx, client.Path("threads", t.ID, "handoffs"), nil, &p)
			for _, h := range p.Items {
				out = append(out, h.ID+"\t"+cut("runs "+covered(h)+" of "+t.Title, 60))
			}
		}
		return out
	})
}

func (a *app) completeRequests(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completing(func(ctx context.Context, c *client.Client) (out []string) {
		var p httpapi.Page[httpapi.Request]
		_ = c.Get(ctx, "/api/requests", nil, &p)
		for _, r := range p.Items {
			out = append(out, r.ID+"\t"+cut(r.Title, 40))
		}
		return out
	})
}

// completeProviders completes --provider.
func (a *app) completeProviders(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("provider", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.completing(func(ctx context.Context, c *client.Client) (out []string) {
			var p httpapi.Page[config.ProviderInfo]
			_ = c.Get(ctx, "/api/providers", nil, &p)
			for _, x := range p.Items {
				out = append(out, x.Name)
			}
			return out
		})
	})
}
