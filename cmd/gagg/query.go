package main

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"github.com/gagg-dev/gagg"
)

// query is what the settings ask the library for. The library parses the
// lists and expressions: their mistakes are its errors.
func (s *settings) query(from gagg.Source) gagg.Query {
	q := gagg.Query{
		From:    from,
		By:      s.by,
		Sets:    s.groupingSets(),
		Totals:  s.totals,
		Sample:  gagg.Sample{Percent: float64(s.sample), Groups: s.sampleBy == "groups", Seed: s.seed},
		Where:   s.where,
		Having:  s.having,
		OrderBy: s.order(),
		Pivot:   s.pivot,
		Limit:   s.limit,
		Offset:  s.offset,
		Partial: s.partial,
		Part:    s.part.Part,
	}
	for _, list := range s.aggs {
		q.Aggs = append(q.Aggs, gagg.Expr(list))
	}
	if s.limited && s.limit == 0 {
		q.Limit = gagg.NoRows
	}
	return q
}

// groupingSets returns the grouping sets for which --rollup, --cube or --sets asks.
func (s *settings) groupingSets() string {
	switch {
	case s.rollup:
		return gagg.Rollup
	case s.cube:
		return gagg.Cube
	}
	return s.sets
}

func (s *settings) libraryOptions(stderr io.Writer) (gagg.Options, error) {
	limit, err := memoryLimit(s.memory)
	if err != nil {
		return gagg.Options{}, err
	}
	tempLimit, err := s.tempBytes()
	return gagg.Options{
		Threads:       s.threads,
		MemoryLimit:   limit,
		TempDir:       s.tempDir,
		TempLimit:     tempLimit,
		Device:        s.device,
		LastRun:       processEnds,
		GPUMemory:     s.gpuMemory.bytes,
		Streams:       s.streams,
		LoadFactor:    s.loadFactor,
		Partitions:    s.partitions,
		BatchRows:     s.batchRows,
		UnionByName:   s.unionByName,
		NoPruning:     s.noPruning,
		AsOf:          s.asOf,
		Deterministic: s.deterministic,
		NoGPUDecoding: s.noGPUDecoding,
		Logger:        s.logger(stderr),
	}, err
}

// transport connects to servers, through the proxies that the environment names. It trusts the
// certificates in AWS_CA_BUNDLE beside those of the system.
func (c *command) transport() (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost, t.DisableCompression = t.MaxIdleConns, true
	file := c.variable("AWS_CA_BUNDLE")
	if file == "" {
		return t, nil
	}
	if _, err := os.Stat(file); err != nil {
		return nil, usagef("AWS_CA_BUNDLE: %v", err)
	}
	return &trusting{Transport: t, file: file}, nil
}

// trusting is a transport that trusts the certificates of a file, too. It reads them, and those of
// the system, before its first request: that takes 15 ms, which a run on local files need not wait.
type trusting struct {
	*http.Transport
	file string
	read sync.Once
	err  error // of reading
}

// RoundTrip sends a request.
func (t *trusting) RoundTrip(r *http.Request) (*http.Response, error) {
	t.read.Do(func() { t.err = t.trust() })
	if t.err != nil {
		return nil, t.err
	}
	return t.Transport.RoundTrip(r)
}

func (t *trusting) trust() error {
	pem, err := os.ReadFile(t.file)
	if err != nil {
		return usagef("AWS_CA_BUNDLE: %v", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return usagef("AWS_CA_BUNDLE: %s has no certificates", t.file)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return nil
}

// logger writes what the library logs to stderr: warnings, with --verbose
// everything, with --quiet nothing.
func (s *settings) logger(stderr io.Writer) *slog.Logger {
	if s.quiet {
		return slog.New(slog.DiscardHandler)
	}
	level := slog.LevelWarn
	if s.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}
