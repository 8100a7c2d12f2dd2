package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"baton"
	"baton/internal/config"
	"baton/internal/journal"
)

// Project is a directory that threads work in.
type Project struct {
	ID        string                `json:"id,omitempty" doc:"absent while Baton knows nothing of it"`
	Dir       string                `json:"dir"`
	Trusted   bool                  `json:"trusted" doc:"agents may load the project's own configuration"`
	ChangedBy string                `json:"changed_by,omitempty" doc:"who changed the trust last"`
	ChangedAt *time.Time            `json:"changed_at,omitempty"`
	CreatedAt *time.Time            `json:"created_at,omitempty"`
	Threads   int                   `json:"threads" doc:"that are not deleted"`
	Loads     []config.ProjectFile  `json:"loads,omitempty" doc:"the project's own agent configuration, where one project is shown"`
	Sessions  *ProjectSessionChange `json:"sessions,omitempty" doc:"what a change of the trust did to living sessions"`
}

// ProjectSessionChange says which sessions have the former trust.
type ProjectSessionChange struct {
	Stopped []string `json:"stopped" doc:"idle ones, which were ended"`
	AtWork  []string `json:"at_work" doc:"those that keep the former trust until their work ends"`
}

type trustBody struct {
	Dir     string `json:"dir" doc:"absolute path"`
	Trusted bool   `json:"trusted"`
	Author  string `json:"author,omitempty" maxLength:"200"`
}

func (s *Server) projects() {
	route(s, http.MethodGet, "/api/projects", "list-projects", "Directories that threads work in, and which are trusted", func(ctx context.Context, r journal.Reader, _ *struct{}) (Page[Project], error) {
		threads, err := threadsOf(ctx, r)
		out := Page[Project]{Items: []Project{}}
		for _, p := range s.cfg.Engine.Projects() {
			out.Items = append(out.Items, projectOf(p, threads))
		}
		slices.SortFunc(out.Items, func(a, b Project) int { return cmp.Compare(a.Dir, b.Dir) })
		return out, err
	})
	type showIn struct {
		Dir string `query:"dir" required:"true" doc:"absolute path"`
	}
	route(s, http.MethodGet, "/api/project", "show-project", "A project, with what agents would load of it", func(ctx context.Context, r journal.Reader, in *showIn) (Project, error) {
		dir, err := directory(in.Dir)
		if err != nil {
			return Project{}, err
		}
		threads, err := threadsOf(ctx, r)
		out := Project{Dir: dir, Threads: threads[dir]}
		for _, p := range s.cfg.Engine.Projects() {
			if p.Dir == dir {
				out = projectOf(p, threads)
			}
		}
		out.Loads = config.ProjectFiles(dir)
		return out, err
	})
	command(s, "/api/project/trust", "trust-project", "Say whether agents may load the project's own configuration", func(ctx context.Context, in *struct{ Body trustBody }) (Project, error) {
		dir, err := directory(in.Body.Dir)
		if err != nil && !in.Body.Trusted {
			dir, err = in.Body.Dir, nil // one that is gone can still be untrusted
			if !slices.ContainsFunc(s.cfg.Engine.Projects(), func(p journal.ProjectDoc) bool { return p.Dir == dir }) {
				return Project{}, baton.Errorf(baton.CodeNotFound, "there is no project %s", dir).WithHint("`baton project list` shows them")
			}
		}
		if err != nil {
			return Project{}, err
		}
		by := in.Body.Author
		if by == "" {
			by = string(baton.ActorPerson)
		}
		p, err := s.cfg.Engine.Trust(ctx, dir, in.Body.Trusted, by)
		if err != nil {
			return Project{}, err
		}
		r := s.cfg.Engine.Journal()
		threads, err := threadsOf(ctx, r)
		if err != nil {
			return Project{}, err
		}
		out := projectOf(p, threads)
		out.Sessions, err = s.endOthers(ctx, r, p)
		return out, err
	})
}

// endOthers ends the idle sessions in a project's directory that have another
// trust than the project now has. One at work goes on; the message after it
// gets another session (see decide).
func (s *Server) endOthers(ctx context.Context, r journal.Reader, p journal.ProjectDoc) (*ProjectSessionChange, error) {
	out := &ProjectSessionChange{Stopped: []string{}, AtWork: []string{}}
	living, err := livingSessions(ctx, r)
	if err != nil {
		return nil, err
	}
	for _, x := range living {
		if x.Dir != p.Dir || x.Trusted == p.Trusted {
			continue
		}
		reply, err := s.do(ctx, CommandBody{}, baton.ThreadID(x.ThreadID), baton.CommandStopSession{Session: baton.SessionID(x.ID)})
		switch {
		case baton.ErrorCode(err) == baton.CodeConflict && err != nil:
			out.AtWork = append(out.AtWork, x.ID)
		case err != nil:
			return nil, err
		case len(reply.Stopped) > 0:
			out.Stopped = append(out.Stopped, x.ID)
		}
	}
	return out, nil
}

func projectOf(p journal.ProjectDoc, threads map[string]int) Project {
	out := Project{ID: string(p.ID), Dir: p.Dir, Trusted: p.Trusted, ChangedBy: p.ChangedBy, Threads: threads[p.Dir]}
	if !p.ChangedAt.IsZero() {
		out.ChangedAt = &p.ChangedAt
	}
	if !p.CreatedAt.IsZero() {
		out.CreatedAt = &p.CreatedAt
	}
	return out
}

// threadsOf counts the threads of each directory.
func threadsOf(ctx context.Context, r journal.Reader) (map[string]int, error) {
	all, err := every[struct{ Dir, State string }](ctx, r, journal.Query{Kind: journal.KindThread})
	count := map[string]int{}
	for _, t := range all {
		if t.State != string(baton.ThreadDeleted) {
			count[t.Dir]++
		}
	}
	return count, err
}
