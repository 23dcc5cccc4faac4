package ega

// Shape is what kernels know of a layout when they are compiled.
type Shape uint8

const (
	ShapePair Shape = iota // rows of [Pairs]
	ShapeKey1              // one key word
	ShapeKey2
	ShapeKey3
	ShapeKey4
	ShapeRare // one key word, and operations that few queries need
	ShapeAny  // any number of key words, and all operations
)

// Shape is the shape that suits the layout best.
func (l *Layout) Shape() Shape {
	switch {
	case l.isPairs():
		return ShapePair
	case l.isRare() && l.KeyWords == 1:
		return ShapeRare
	case !l.isRare() && l.KeyWords <= 4:
		return ShapeKey1 + Shape(l.KeyWords-1)
	}
	return ShapeAny
}
