package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/gagg-dev/gagg/testdata"
)

// writeExample writes the orders of a shop, for users who have no data at hand. It never
// overwrites a file: a user who takes --example for a question about a file does not lose that
// file.
func (c *command) writeExample() error {
	switch _, err := os.Lstat(c.example); {
	case c.example == "":
		return usagef("--example is empty: name the file to write, such as orders.parquet")
	case len(c.inputs) > 0:
		return usagef("--example writes a file and reads no input; drop %s", c.inputs[0])
	case c.example == "-" && isScreen(c.out):
		return usagef("--example -: Parquet is not text, and stdout is a terminal: name a file, or redirect stdout")
	case c.example == "-":
		_, err := c.out.Write(testdata.Orders)
		return output(err)
	case !errors.Is(err, fs.ErrNotExist):
		return usagef("--example %s: there is such a file already; name another one, or remove it", c.example)
	}
	f, err := c.createFile(c.example)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(testdata.Orders); err != nil {
		return output(err)
	}
	return output(f.Commit())
}
