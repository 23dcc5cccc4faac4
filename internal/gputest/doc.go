// Package gputest opens the device for tests.
package gputest
