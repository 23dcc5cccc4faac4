package parquetio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// touch makes empty files below a new folder, which becomes the current one.
func touch(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, n := range names {
		if err := os.MkdirAll(filepath.Dir(n), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(n, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func list(t *testing.T, paths ...string) ([]string, error) {
	t.Helper()
	inputs := make([]Input, len(paths))
	for i, p := range paths {
		inputs[i].Path = p
	}
	found, err := listInputs(context.Background(), inputs, &account{}, nil)
	var got []string
	for _, f := range found {
		got = append(got, f.Path)
	}
	return got, err
}

func TestList(t *testing.T) {
	touch(
		t, "d/b.parquet", "d/a.PARQUET", "d/sub/c.parq", "d/sub/d.pq", "d/notes.txt", "d/.hidden.parquet",
		"d/_SUCCESS", "d/_temporary/x.parquet", "d/_log/1.parquet", "d/.git/x.parquet", "d/_k=1/e.parquet",
		"d/spark.parquet/part-0.parquet", "other/a.parquet", "other/deep/er/z.parquet", "odd[1].parquet", "plain.bin",
	)
	cases := []struct {
		name   string
		inputs []string
		want   string
	}{
		{"a folder: below it, sorted, nothing hidden, partition folders kept", []string{"d"}, "d/_k=1/e.parquet d/a.PARQUET d/b.parquet d/spark.parquet/part-0.parquet d/sub/c.parq d/sub/d.pq"},
		{"slash at the end", []string{"other/"}, "other/a.parquet other/deep/er/z.parquet"},
		{"a file has any name", []string{"plain.bin"}, "plain.bin"},
		{"a name with brackets that exists is no glob", []string{"odd[1].parquet"}, "odd[1].parquet"},
		{"star stays in its folder", []string{"other/*.parquet"}, "other/a.parquet"},
		{"two stars do not", []string{"other/**/*.parquet"}, "other/a.parquet other/deep/er/z.parquet"},
		{"everything below", []string{"d/**"}, "d/_k=1/e.parquet d/a.PARQUET d/b.parquet d/spark.parquet/part-0.parquet d/sub/c.parq d/sub/d.pq"},
		{"alternatives, one of them over a slash", []string{"{other,d/sub}/*.p*"}, "d/sub/c.parq d/sub/d.pq other/a.parquet"},
		{"a glob may match folders", []string{"d/s*"}, "d/spark.parquet/part-0.parquet d/sub/c.parq d/sub/d.pq"},
		{"a folder is not read twice under a glob", []string{"d/**/*.parquet"}, "d/_k=1/e.parquet d/b.parquet d/spark.parquet/part-0.parquet"},
		{"hidden where written out", []string{"d/_temporary/*.parquet"}, "d/_temporary/x.parquet"},
		{"wildcard folder", []string{"*/sub/?.parq"}, "d/sub/c.parq"},
		{"from the current folder", []string{"**/z.parquet"}, "other/deep/er/z.parquet"},
		{"inputs keep their order", []string{"other", "d/sub"}, "other/a.parquet other/deep/er/z.parquet d/sub/c.parq d/sub/d.pq"},
		{"found and named: once", []string{"other", "./other/a.parquet", "other/*.parquet"}, "other/a.parquet other/deep/er/z.parquet"},
		{"named twice: twice", []string{"other/a.parquet", "other/a.parquet", "other/*"}, "other/a.parquet other/a.parquet other/deep/er/z.parquet"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := list(t, c.inputs...)
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("got  %s, %v\nwant %s", strings.Join(got, " "), err, c.want)
			}
		})
	}
}

// F29: every input that gives nothing is named, and all of them at once.
func TestListErrors(t *testing.T) {
	touch(t, "empty/readme.txt", "ok.parquet")
	long := strings.Repeat("x", 5000)
	bad := []string{"gone.parquet", "empty", "no/*.parquet", long, "nul\x00.parquet", "not-utf8-\xff.parquet"}
	_, err := list(t, append([]string{"ok.parquet"}, bad...)...)
	var all errorList
	if !errors.As(err, &all) || len(all) != len(bad) {
		t.Fatalf("got %v", err)
	}
	for i, e := range all {
		var fault *Error
		if !errors.As(e, &fault) || fault.File != bad[i] || strings.Contains(e.Error(), "\n") {
			t.Errorf("%q: %v", bad[i], e)
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("fs.ErrNotExist is not in the error")
	}
}

func TestListUsageErrors(t *testing.T) {
	touch(t)
	for _, p := range []string{"", "s3://bucket/a.parquet", "https://example.com/x.parquet", "a[.parquet", "{a,b.parquet"} {
		_, err := list(t, p)
		var usage *UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%q: %v", p, err)
		}
	}
}

// F45: links are followed, loops end in an error, and so does a link into
// nowhere that looks like data.
func TestListLinks(t *testing.T) {
	touch(t, "data/x.parquet", "tree/a/x.parquet")
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	link("../data", "tree/linked")
	link("../data/x.parquet", "tree/y.parquet")
	link("/nowhere/note.txt", "tree/note.txt")
	want := []string{"tree/a/x.parquet", "tree/linked/x.parquet", "tree/y.parquet"}
	if got, err := list(t, "tree"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	link("/nowhere/z.parquet", "tree/z.parquet")
	link("..", "tree/a/up")
	link("self", "tree/self")
	_, err := list(t, "tree")
	var all errorList
	if !errors.As(err, &all) || len(all) != 3 {
		t.Errorf("want 3 errors, got %v", err)
	}
}

func TestListUnreadableFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads every folder")
	}
	touch(t, "d/a.parquet", "d/locked/b.parquet")
	if err := os.Chmod("d/locked", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("d/locked", 0o777)
	for _, p := range []string{"d", "d/**/*.parquet"} {
		if got, err := list(t, p); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %q, %v", p, got, err)
		}
	}
}

// Paths are bytes: what is not UTF-8 is found by folders and by globs.
func TestListNotUTF8(t *testing.T) {
	touch(t, "d\xff/\xfe.parquet")
	for _, p := range []string{".", "*/*.parquet", "**/*.parquet", "d\xff/\xfe.parquet"} {
		got, err := list(t, p)
		if err != nil || len(got) != 1 || strings.TrimPrefix(got[0], "./") != "d\xff/\xfe.parquet" {
			t.Errorf("%q: %q, %v", p, got, err)
		}
	}
}

func TestListCancelled(t *testing.T) {
	touch(t, "d/a.parquet")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := listInputs(ctx, []Input{{Path: "d"}}, &account{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
