package main

import (
	"io"
	"net"
	"net/url"
	"sync"

	"k8s.io/client-go/rest"
)

// cuttableProxy passes TCP connections on to the server until cut ends those that are open. TLS goes through it
// untouched: what the client sees is what a network fault looks like.
type cuttableProxy struct {
	listener net.Listener
	target   string
	mutex    sync.Mutex
	open     map[net.Conn]struct{}
	accepted int
}

// throughProxy gives the configuration that reaches the same server through a new proxy.
func throughProxy(config *rest.Config) (*rest.Config, *cuttableProxy) {
	address := must(url.Parse(config.Host))
	proxy := &cuttableProxy{
		listener: must(net.Listen("tcp", "127.0.0.1:0")),
		target:   address.Host,
		open:     map[net.Conn]struct{}{},
	}
	go proxy.serve()
	config = rest.CopyConfig(config)
	config.TLSClientConfig.ServerName = address.Hostname()
	address.Host = proxy.listener.Addr().String()
	config.Host = address.String()
	return config, proxy
}

func (p *cuttableProxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mutex.Lock()
		p.accepted++
		p.open[client], p.open[server] = struct{}{}, struct{}{}
		p.mutex.Unlock()
		go p.pass(client, server)
		go p.pass(server, client)
	}
}

func (p *cuttableProxy) pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
	from.Close()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.open, from)
}

// cut ends every open connection; new ones are accepted.
func (p *cuttableProxy) cut() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for connection := range p.open {
		connection.Close()
	}
}

func (p *cuttableProxy) connections() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.accepted
}

func (p *cuttableProxy) close() {
	p.listener.Close()
	p.cut()
}
