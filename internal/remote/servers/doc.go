// Package servers has the tests of inputs on servers against real ones on loopback: gofakes3, an
// S3 server as a Go module, and nginx. It is a module of its own, so that what the servers need
// never reaches a user of gagg. make test-servers runs it. Servers of the root package's own tests
// break the rules of HTTP, too; what these here are asked is what only another program can tell.
package servers
