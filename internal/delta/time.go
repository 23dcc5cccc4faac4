package delta

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gagg-dev/gagg/internal/lake"
)

// This file finds the version that a table had at a time. A commit says in an action of its own,
// commitInfo, when it was made; with the feature inCommitTimestamp that rises from version to
// version. Where files of the log are from, and when they were copied, does not count.

type commitInfo struct {
	CommitInfo *struct {
		InCommitTimestamp *int64
		Timestamp         *int64
	}
}

// VersionAt is the version that the table in a store had at a time: the last whose commit is not
// later. Commits are looked at by bisection.
func VersionAt(ctx context.Context, store lake.Store, names []string, at time.Time) (int64, error) {
	var commits []int64
	files := map[int64]string{}
	for _, name := range names {
		if v, point, ok := parseName(name); ok && point == nil {
			commits, files[v] = append(commits, v), name
		}
	}
	if len(commits) == 0 {
		return 0, errors.New("the Delta log has no commits, which tell when versions were made: name a version")
	}
	slices.Sort(commits)
	from, to := 0, len(commits) // those before from are not later, those from to on are
	first := time.Time{}
	for from < to {
		middle := from + (to-from)/2
		made, err := commitTime(ctx, store, files[commits[middle]])
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s/%s: %w", LogFolder, files[commits[middle]], err)
		case made.After(at):
			to, first = middle, made
		default:
			from = middle + 1
		}
	}
	if from == 0 {
		return 0, fmt.Errorf("the Delta table has no version of %s or before: its log begins with version %d, of %s",
			at.UTC().Format(time.RFC3339Nano), commits[0], first.UTC().Format(time.RFC3339Nano))
	}
	return commits[from-1], nil
}

// commitTime is when a commit was made.
func commitTime(ctx context.Context, store lake.Store, name string) (time.Time, error) {
	in, done, err := store.Open(ctx, LogFolder+"/"+name)
	if err != nil {
		return time.Time{}, err
	}
	defer done()
	lines := bufio.NewScanner(io.NewSectionReader(in.Reader, 0, in.Size))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if ctx.Err() != nil {
			return time.Time{}, context.Cause(ctx)
		}
		if !bytes.Contains(lines.Bytes(), []byte(`"commitInfo"`)) {
			continue
		}
		var a commitInfo
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return time.Time{}, fmt.Errorf("damaged: line %d is no action: %w", n, err)
		}
		if info := a.CommitInfo; info != nil {
			for _, millis := range []*int64{info.InCommitTimestamp, info.Timestamp} {
				if millis != nil {
					return time.UnixMilli(*millis), nil
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return time.Time{}, err
	}
	return time.Time{}, errors.New("the commit does not say when it was made: name a version in place of a time")
}
