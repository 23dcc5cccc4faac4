//go:build !amd64

package parquetio

func codesBelow(codes []int32, n int) bool { return codesBelowGeneric(codes, n) }
