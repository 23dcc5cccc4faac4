package parquetio

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gagg-dev/gagg/internal/column"
)

// show writes hive columns as name:type=value,value.
func show(cols []hiveColumn) string {
	var out []string
	for _, c := range cols {
		var values []string
		for _, v := range c.values {
			switch {
			case v.Null:
				values = append(values, "NULL")
			case v.Type.Kind == column.String:
				values = append(values, fmt.Sprintf("%q", v.Bytes))
			default:
				values = append(values, fmt.Sprint(v.Int))
			}
		}
		out = append(out, fmt.Sprintf("%s:%s=%s", c.name, c.typ, strings.Join(values, ",")))
	}
	return strings.Join(out, " ")
}

// F44: names are data.
func TestHiveColumns(t *testing.T) {
	cases := []struct {
		name  string
		paths []string
		want  string
	}{
		{"numbers", []string{"d/y=2024/a", "d/y=-7/a"}, "y:int64=2024,-7"},
		{"a leading zero is text", []string{"d/m=03/a", "d/m=10/a"}, `m:string="03","10"`},
		{"zero is a number, minus zero and plus one are not", []string{"k=0/v=-0/w=+1/a"}, `k:int64=0 v:string="-0" w:string="+1"`},
		{"past 64 bits is text", []string{"k=9223372036854775807/v=9223372036854775808/a"}, `k:int64=9223372036854775807 v:string="9223372036854775808"`},
		{"dates", []string{"d=1970-01-02/a", "d=1969-12-31/a"}, "d:date=1,-1"},
		{"no date after all", []string{"d=2024-02-30/a", "d=2024-02-28/a"}, `d:string="2024-02-30","2024-02-28"`},
		{"numbers and text are text", []string{"k=1/a", "k=x/a"}, `k:string="1","x"`},
		{"NULL marker and empty", []string{"k=__HIVE_DEFAULT_PARTITION__/a", "k=/a", "k=4/a"}, "k:int64=NULL,NULL,4"},
		{"only NULL is text", []string{"k=/a", "k=/b"}, "k:string=NULL,NULL"},
		{"a date and NULL", []string{"k=/a", "k=1970-01-01/b"}, "k:date=NULL,0"},
		{"another order in each file", []string{"a=1/b=x/f", "b=y/a=2/f"}, `a:int64=1,2 b:string="x","y"`},
		{"only keys that all files have", []string{"a=1/b=2/f", "a=3/f"}, "a:int64=1,3"},
		{"no key in a reader", []string{"a=1/f", ""}, ""},
		{"the file name does not count", []string{"d/a=1.parquet"}, ""},
		{"percent escapes come after the split", []string{"city=Z%C3%BCrich/p=..%2F..%2Fetc/f"}, `city:string="Zürich" p:string="../../etc"`},
		{"a stray percent stays", []string{"k=100%/f"}, `k:string="100%"`},
		{"an encoded key", []string{"a%3Db=1/f"}, "a=b:int64=1"},
		{"the first = splits", []string{"k=a=b/f"}, `k:string="a=b"`},
		{"no key without a name", []string{"=1/f"}, ""},
		{"dots", []string{"../k=1/./f"}, "k:int64=1"},
		{"bytes", []string{"k=\xff\x00\n/f"}, `k:string="\xff\x00\n"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cols, err := hiveColumns(c.paths, nil)
			if got := show(cols); err != nil || got != c.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestHiveKeyTwice(t *testing.T) {
	_, err := hiveColumns([]string{"k=1/k=1/f", "k=1/f"}, nil)
	var usage *UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "k=1/k=1/f") {
		t.Error(err)
	}
}
