package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// One connection.
type client interface {
	do(request) (status int, err error)
}

func connect(address, token, protocol string) (client, error) {
	// The certificates are the server's own: what is measured is the server, not its identity.
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}
	if protocol == "h2" {
		transport := &http.Transport{
			TLSClientConfig:    config,
			ForceAttemptHTTP2:  true,
			MaxConnsPerHost:    1,
			DisableCompression: true,
		}
		return &multiplexed{transport, "https://" + address, "Bearer " + token}, nil
	}
	connection, err := tls.Dial("tcp", address, config)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", address, token)
	return &plainText{connection, bufio.NewReaderSize(connection, 64<<10), head}, nil
}

// HTTP/2, by Go's own client.
type multiplexed struct {
	transport *http.Transport
	base      string
	bearer    string
}

func (c *multiplexed) do(r request) (int, error) {
	out, err := http.NewRequest(r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return 0, err
	}
	out.Header.Set("Authorization", c.bearer)
	if r.contentType != "" {
		out.Header.Set("Content-Type", r.contentType)
	}
	answer, err := c.transport.RoundTrip(out)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	return answer.StatusCode, err
}

// HTTP/1.1, as little as will do.
type plainText struct {
	connection *tls.Conn
	reader     *bufio.Reader
	head       string
}

func (c *plainText) do(r request) (int, error) {
	var out bytes.Buffer
	out.WriteString(r.method + " " + r.path + " " + c.head)
	if len(r.body) > 0 {
		fmt.Fprintf(&out, "Content-Type: %s\r\nContent-Length: %d\r\n", r.contentType, len(r.body))
	}
	out.WriteString("\r\n")
	out.Write(r.body)
	if _, err := c.connection.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return c.read()
}

func (c *plainText) read() (status int, err error) {
	line, err := c.reader.ReadString('\n')
	if err != nil || len(line) < 12 {
		return 0, fmt.Errorf("no answer: %q %w", line, err)
	}
	if status, err = strconv.Atoi(line[9:12]); err != nil {
		return 0, err
	}
	length := int64(-1)
	for {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			return 0, err
		}
		if line == "\r\n" {
			break
		}
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "content-length") {
			length, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	if length >= 0 {
		_, err = io.CopyN(io.Discard, c.reader, length)
		return status, err
	}
	return status, c.skipChunks()
}

func (c *plainText) skipChunks() error {
	for {
		line, err := c.reader.ReadString('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, c.reader, size+2); err != nil {
			return err
		}
		if size == 0 {
			return nil
		}
	}
}
