package column

import (
	"fmt"
	"slices"
	"strings"
)

// ParseType is the scalar type whose String is text.
func ParseType(text string) (Type, error) {
	if k := slices.Index(kindNames[:], text); k > int(Null) && Kind(k) != Decimal && Kind(k) != Time && Kind(k) != Timestamp && Kind(k) != Interval {
		return Type{Kind: Kind(k)}, nil
	}
	if text == kindNames[Interval] {
		return IntervalType, nil
	}
	if text == kindNames[Null] {
		return Type{Kind: Null}, nil
	}
	if f := slices.Index(formNames[:], text); f > int(NoForm) {
		return Type{Kind: String, Form: Form(f)}, nil
	}
	t := Type{}
	name, rest, _ := strings.Cut(text, "[")
	unit, zone := strings.CutSuffix(strings.TrimSuffix(rest, "]"), ", UTC")
	switch name {
	case kindNames[Time], kindNames[Timestamp]:
		for u := Second; u <= Nano; u++ {
			if u.String() == unit {
				t = Type{Kind: Time, Unit: u, UTC: zone}
			}
		}
		if t.Kind != Invalid && name == kindNames[Timestamp] {
			t.Kind = Timestamp
		}
	default:
		var a, b int
		if n, err := fmt.Sscanf(text, "decimal(%d,%d)", &a, &b); n == 2 && err == nil && 1 <= a && a <= MaxDigits && 0 <= b && b <= a {
			t = DecimalType(a, b)
		} else if n, err := fmt.Sscanf(text, "binary(%d)", &a); n == 1 && err == nil && a >= 0 && a < 1<<31 {
			t = Type{Kind: FixedBinary, Width: int32(a)}
		}
	}
	if t.Kind == Invalid || t.String() != text {
		return Type{}, fmt.Errorf("%q is no type", text)
	}
	return t, nil
}
