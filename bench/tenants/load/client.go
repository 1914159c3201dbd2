package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
)

// One connection, HTTP/2 as kubectl and client-go choose it, to what a kubeconfig names. The server's certificate is verified.
type client struct {
	base      string
	token     string
	transport *http.Transport
}

var kubeconfigLine = regexp.MustCompile(
	`(?m)^\s*(?:- )?(server|certificate-authority-data|client-certificate-data|client-key-data|token): *"?([^"\s]+)"?\s*$`)

// Of the one cluster and the one user that it has.
func connect(kubeconfig string) (*client, error) {
	values := map[string]string{}
	for _, line := range kubeconfigLine.FindAllStringSubmatch(kubeconfig, -1) {
		values[line[1]] = line[2]
	}
	decoded := map[string][]byte{}
	for _, name := range []string{"certificate-authority-data", "client-certificate-data", "client-key-data"} {
		bytes, err := base64.StdEncoding.DecodeString(values[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		decoded[name] = bytes
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), NextProtos: []string{"h2"}}
	if !config.RootCAs.AppendCertsFromPEM(decoded["certificate-authority-data"]) {
		return nil, fmt.Errorf("the kubeconfig has no certificate authority:\n%s", kubeconfig)
	}
	if len(decoded["client-key-data"]) > 0 {
		pair, err := tls.X509KeyPair(decoded["client-certificate-data"], decoded["client-key-data"])
		if err != nil {
			return nil, err
		}
		// As client-go does: shown whether or not the server has named who issued it.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return &client{
		base:  values["server"],
		token: values["token"],
		transport: &http.Transport{
			TLSClientConfig:    config,
			ForceAttemptHTTP2:  true,
			MaxConnsPerHost:    1,
			DisableCompression: true,
		},
	}, nil
}

func connectFile(path string) (*client, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return connect(string(text))
}

// The same connection, and paths that begin with what is given.
func (c *client) under(path string) *client {
	return &client{base: c.base + path, token: c.token, transport: c.transport}
}

func (c *client) do(method, path string, body []byte) (status int, answer []byte, err error) {
	response, err := c.open(method, path, body)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// The caller reads the body and closes it.
func (c *client) open(method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequest(method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	return c.transport.RoundTrip(request)
}

// An answer of another status is an error that says what came.
func (c *client) must(wanted int, method, path string, body []byte) ([]byte, error) {
	status, answer, err := c.do(method, path, body)
	if err == nil && status != wanted {
		err = fmt.Errorf("%s %s%s: %d %s", method, c.base, path, status, answer)
	}
	return answer, err
}

func (c *client) close() {
	c.transport.CloseIdleConnections()
}
