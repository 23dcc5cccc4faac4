// Command corpus makes testdata/corpus again:
//
//	make bench/peers/node_modules   the engines that write files and answer queries
//	go run ./bench/corpus           in the root of the repository
//
// Phases: files.go has the good files written, by the peers of bench/peers, the writers of
// bench/fuzz and internal/datagen, and the bad ones by internal/datagen. cases.go lists the
// queries. answers.go asks DuckDB and writes what the package internal/corpus describes.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

const folder = "testdata/corpus"

func main() {
	if err := generate(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// generate makes everything but the README, and leaves nothing of what was there before.
func generate(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(folder, "README.md")); err != nil {
		return fmt.Errorf("run this in the repository's root: %w", err)
	}
	for _, sub := range []string{"valid", "bad", "expected"} {
		if err := os.RemoveAll(filepath.Join(folder, sub)); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Join(folder, sub), 0o777); err != nil {
			return err
		}
	}
	duck, err := startPeer(ctx, "bench/peers/peer.mjs", "duckdb", "none", "1")
	if err != nil {
		return err
	}
	defer duck.close()
	for _, s := range []string{"set threads = 1", "set TimeZone = 'UTC'", "pragma disable_optimizer"} {
		if _, err := duck.query(s); err != nil {
			return err
		}
	}
	scratch, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	good, err := writeGood(ctx, duck, scratch)
	if err != nil {
		return err
	}
	bad, err := writeBad()
	if err != nil {
		return err
	}
	return answer(duck, append(good, bad...))
}
