// Command gagg groups and aggregates Parquet files.
//
//	gagg -k id1,id2 -a 'sum(v1), mean(v3) as m' data/*.parquet -o out.parquet
//
// The command owns what a person or a script sees, and nothing else:
//
//	flags.go     the flags and GAGG_* variables
//	size.go      4GiB, 60%; percent.go 10%
//	check.go     settings that make no sense alone or together
//	query.go     flags → gagg.Query and gagg.Options
//	input.go     arguments → gagg.Source
//	stores.go    where buckets are, and who asks for them
//	outputs.go   outputs that would destroy one another, or an input
//	run.go       one run from arguments to exit status
//	result.go    where the result goes and in which format
//	answer.go    no half answer in a pipe
//	screen.go    nothing raw on a terminal
//	report.go    --schema, --explain, --stats
//	devices.go   --devices, and --device where one is demanded
//	memory.go    how much memory there is, and was held
//	share.go     what of it is for the query
//	temp.go      how much disk there is for what does not fit
//	progress.go  the bar on stderr
//	estimate.go  how long a run will take
//	failure.go   error → one line on stderr and an exit status
//	help.go      --help, --version; manual.go the manual page, of the same tables
//	example.go   --example: a file to try gagg on
//	completion.go the scripts of shells; complete.go what they ask for, complete_words.go as it is
//	             typed, complete_expr.go in expressions
//	stop.go      a run that was stopped ends soon, come what may
//	signals.go   Ctrl-C and its kin → a cancelled context
//
// Results go to stdout or to --output; everything else goes to stderr. All
// the work is done by the package gagg at the root of this module, which
// prints nothing.
package main

import (
	"context"
	"os"

	"github.com/gagg-dev/gagg/internal/teardown"

	_ "time/tzdata" // time zones where the system has none: 0.4 MB of 19
)

// processEnds says whether the process ends with the run. In tests it does not.
var processEnds = false

func main() {
	teardown.Here()
	processEnds = true
	fewQueues()
	ctx := withSignals(context.Background())
	status := run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	teardown.Elsewhere()
	os.Exit(status)
}

// fewQueues has the driver make two hardware queues for the streams of a device, in place of eight,
// unless the environment names a number. With a context they are made and taken down, which takes
// 10 ms and more for each (docs/decisions/0035).
func fewQueues() {
	const variable = "CUDA_DEVICE_MAX_CONNECTIONS"
	if _, named := os.LookupEnv(variable); !named {
		_ = os.Setenv(variable, "2") // else there are eight
	}
}
