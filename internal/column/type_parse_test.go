package column

import "testing"

// Every scalar type comes back from its name; what is no name is refused.
func TestParseType(t *testing.T) {
	t.Parallel()
	types := []Type{DecimalType(1, 0), DecimalType(18, 18), DecimalType(76, 3), {Kind: FixedBinary, Width: 7}, {Kind: FixedBinary}}
	for k := Null; k < Interval; k++ {
		switch k {
		case Decimal, FixedBinary:
		case Time, Timestamp:
			for u := Second; u <= Nano; u++ {
				types = append(types, Type{Kind: k, Unit: u}, Type{Kind: k, Unit: u, UTC: true})
			}
		default:
			types = append(types, Type{Kind: k})
		}
	}
	for _, want := range types {
		if got, err := ParseType(want.String()); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", want, got, err, want)
		}
	}
	for _, text := range []string{
		"", "int", "decimal", "decimal(0,0)", "decimal(77,0)", "decimal(3,4)", "decimal(3,2) ", "time", "time[h]", "timestamp[us,UTC]",
		"timestamp[us, UTC", "binary(-1)", "binary(4", "intervals", "invalid", "int64[]", "map(int64, int64)",
	} {
		if got, err := ParseType(text); err == nil {
			t.Errorf("%q is taken for %s", text, got)
		}
	}
}
