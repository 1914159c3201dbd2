package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failure is what an assertion panics with; runCheck turns it into the line of the check.
type failure struct{ message string }

func fail(format string, args ...any) {
	panic(failure{where() + fmt.Sprintf(format, args...)})
}

// must passes on what a call gave, so that `object := must(client.Get(…))` reads as what it does.
func must[V any](value V, err error) V {
	ok(err)
	return value
}

func ok(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func expect(holds bool, format string, args ...any) {
	if !holds {
		fail(format, args...)
	}
}

func equal[V any](got, want V, what string) {
	if difference := cmp.Diff(want, got); difference != "" {
		fail("%s (- want, + got): %s", what, difference)
	}
}

func expectReason(err error, want metav1.StatusReason, what string) {
	if err == nil {
		fail("%s: no error, want reason %s", what, want)
	}
	if got := apierrors.ReasonForError(err); got != want {
		fail("%s: reason %q, want %s: %v", what, got, want, err)
	}
}

// eventually polls: for what arrives through a cache or another goroutine.
func eventually(ctx context.Context, what string, holds func() bool) {
	for !holds() {
		select {
		case <-ctx.Done():
			fail("never: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// receive is the channel's next value; fails when it is closed or the time is up.
func receive[V any](ctx context.Context, from <-chan V, what string) V {
	select {
	case value, open := <-from:
		expect(open, "%s: the channel was closed", what)
		return value
	case <-ctx.Done():
		fail("never came: %s", what)
		panic("unreachable")
	}
}

// where is the line of the check that called the assertion.
func where() string {
	for skip := 2; ; skip++ {
		_, file, line, known := runtime.Caller(skip)
		if !known {
			return ""
		}
		if name := filepath.Base(file); name != "assert.go" {
			return fmt.Sprintf("%s:%d: ", name, line)
		}
	}
}
