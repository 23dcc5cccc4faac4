package oracle

import "fmt"

// Equal compares what an engine gave with what is expected, order aside. The
// error names the first difference by its group.
func Equal(got, want Result) error {
	gotByKey := map[string][]Cell{}
	for _, row := range got.Rows {
		key := keyText(row[:want.Keys])
		if _, twice := gotByKey[key]; twice {
			return fmt.Errorf("group %q occurs twice", key)
		}
		gotByKey[key] = row
	}
	for _, row := range want.Rows {
		key := keyText(row[:want.Keys])
		g, ok := gotByKey[key]
		if !ok {
			return fmt.Errorf("group %q is missing; %d groups, want %d", key, len(got.Rows), len(want.Rows))
		}
		if err := equalRows(g, row); err != nil {
			return fmt.Errorf("group %q: %w", key, err)
		}
		delete(gotByKey, key)
	}
	for key := range gotByKey {
		return fmt.Errorf("group %q should not be there; %d groups, want %d", key, len(got.Rows), len(want.Rows))
	}
	return nil
}

func equalRows(got, want []Cell) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d columns, want %d", len(got), len(want))
	}
	for i := range want {
		if !got[i].Matches(want[i]) {
			return fmt.Errorf("column %d is %s, want %s", i, got[i], want[i])
		}
	}
	return nil
}
