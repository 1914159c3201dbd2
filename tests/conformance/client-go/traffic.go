package main

import (
	"net/http"
	"net/url"
	"sync"
)

// exchange is one request and the head of its answer.
type exchange struct {
	method      string
	path        string
	query       url.Values
	contentType string
	accept      string
	status      int
	// protocol of the answer, e.g. HTTP/2.0.
	protocol   string
	answerType string
	// uncompressed says that the transport undid a gzip that the server chose.
	uncompressed bool
}

func (e exchange) isWatch() bool { return e.query.Get("watch") == "true" }

// traffic remembers what went over the wire below the client libraries.
type traffic struct {
	mutex     sync.Mutex
	exchanges []exchange
}

func (t *traffic) through(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(request)
		if err != nil {
			return answer, err
		}
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.exchanges = append(t.exchanges, exchange{
			method:       request.Method,
			path:         request.URL.Path,
			query:        request.URL.Query(),
			contentType:  request.Header.Get("Content-Type"),
			accept:       request.Header.Get("Accept"),
			status:       answer.StatusCode,
			protocol:     answer.Proto,
			answerType:   answer.Header.Get("Content-Type"),
			uncompressed: answer.Uncompressed,
		})
		return answer, nil
	})
}

func (t *traffic) all() []exchange {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return append([]exchange(nil), t.exchanges...)
}

func (t *traffic) count(matches func(exchange) bool) int {
	count := 0
	for _, one := range t.all() {
		if matches(one) {
			count++
		}
	}
	return count
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
