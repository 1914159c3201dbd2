import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { parseEgressConfiguration } from './configuration.ts';
import { HttpConnectDialer } from './http-connect.ts';
import { readEgress } from './index.ts';

const head = { apiVersion: 'apiserver.k8s.io/v1beta1', kind: 'EgressSelectorConfiguration' };
const selecting = (connection: object, name = 'cluster') =>
  JSON.stringify({ ...head, egressSelections: [{ name, connection }] });
const uds = { uds: { udsName: '/run/socket' } };

describe('the configuration', () => {
  test('has the format of kube-apiserver', () => {
    assert.deepEqual(parseEgressConfiguration(selecting({ proxyProtocol: 'HTTPConnect', transport: uds })), {
      protocol: 'HTTPConnect',
      socket: '/run/socket',
    });
    assert.deepEqual(parseEgressConfiguration(selecting({ proxyProtocol: 'GRPC', transport: uds })), {
      protocol: 'GRPC',
      socket: '/run/socket',
    });
    const tlsConfig = { caBundle: 'ca', clientCert: 'cert', clientKey: 'key', tlsServerName: 'name' };
    const tcp = { url: 'https://127.0.0.1:8131', tlsConfig };
    assert.deepEqual(parseEgressConfiguration(selecting({ proxyProtocol: 'HTTPConnect', transport: { tcp } })), {
      protocol: 'HTTPConnect',
      url: 'https://127.0.0.1:8131',
      tls: tlsConfig,
    });
  });

  test('without a selection for the cluster means direct connections', () => {
    const direct = { protocol: 'Direct' };
    assert.deepEqual(parseEgressConfiguration(JSON.stringify({ ...head, egressSelections: [] })), direct);
    assert.deepEqual(parseEgressConfiguration(selecting({ proxyProtocol: 'Direct' })), direct);
    assert.deepEqual(parseEgressConfiguration(selecting({ proxyProtocol: 'GRPC', transport: uds }, 'etcd')), direct);
  });

  const wrong: [string, RegExp][] = [
    ['kind: Other', /unexpected config type/],
    [JSON.stringify({ ...head, egressSelection: [] }), /unknown field "egressSelection"/],
    [selecting({ proxyProtocol: 'Direct' }, 'nodes'), /egressSelections\[0\]\.name: unsupported value "nodes"/],
    [selecting({ proxyProtocol: 'SOCKS' }), /proxyProtocol: unsupported value "SOCKS"/],
    [selecting({ proxyProtocol: 'Direct', transport: uds }), /transport: must be absent for Direct/],
    [selecting({ proxyProtocol: 'HTTPConnect' }), /transport: required for HTTPConnect/],
    [selecting({ proxyProtocol: 'HTTPConnect', transport: {} }), /exactly one of tcp and uds/],
    [selecting({ proxyProtocol: 'GRPC', transport: { tcp: { url: 'https://a' } } }), /uds: required for GRPC/],
    [selecting({ proxyProtocol: 'HTTPConnect', transport: { uds: {} } }), /udsName: required/],
    [
      selecting({ proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'https://a' } } }),
      /tlsConfig: required for https/,
    ],
    [selecting({ proxyProtocol: 'HTTPConnect', transport: { tcp: { url: 'ftp://a' } } }), /must start with http/],
    [
      selecting({
        proxyProtocol: 'HTTPConnect',
        transport: { tcp: { url: 'https://a', tlsConfig: { clientKey: 'k' } } },
      }),
      /clientCert: required/,
    ],
  ];
  for (const [text, message] of wrong) {
    test(`is refused: ${message.source}`, () => assert.throws(() => parseEgressConfiguration(text), message));
  }

  test('in a file is named by its errors', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-egress-'));
    try {
      const file = join(folder, 'egress.yaml');
      await writeFile(file, 'kind: Other');
      await assert.rejects(readEgress(file, systemClock), (error: Error) =>
        error.message.startsWith(`${file}: unexpected`),
      );
      await assert.rejects(readEgress(join(folder, 'missing'), systemClock), /missing: ENOENT/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** A proxy on a Unix socket that handles each connection as the test wants. */
async function withProxy(
  serve: (socket: Socket) => void,
  act: (dialer: HttpConnectDialer, path: string) => Promise<void>,
) {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-egress-'));
  const path = join(folder, 'socket');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    serve(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  try {
    await act(new HttpConnectDialer({ proxy: { socket: path }, clock: systemClock }), path);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

describe('HTTPConnect', () => {
  const target = { host: 'fd00::1', port: 80 };

  test('passes on bytes that follow the response at once, in any cut', async () => {
    let asked = '';
    const serve = (socket: Socket): void => {
      socket.once('data', (chunk: Buffer) => {
        asked = chunk.toString();
        socket.write('HTTP/1.1 200 Connection');
        setImmediate(() => socket.end(' Established\r\n\r\nSSH-2.0'));
      });
    };
    await withProxy(serve, async (dialer) => {
      const socket = await dialer.dial(target);
      assert.equal(Buffer.concat(await socket.toArray()).toString(), 'SSH-2.0');
      assert.equal(asked, 'CONNECT [fd00::1]:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    });
  });

  test('reports the refusal of the proxy', async () => {
    const refusal = 'HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain\r\n\r\nno\nroute';
    await withProxy(
      (socket) => socket.end(refusal),
      async (dialer, path) => {
        await assert.rejects(dialer.dial(target), {
          code: 'Unreachable',
          message: `proxy error from ${path} while dialing [fd00::1]:80, code 502: 502 Bad Gateway: no route`,
        });
      },
    );
  });

  for (const [name, answer, message] of [
    ['that ends without a response', '', /unexpected EOF/],
    ['that is not HTTP', 'hello\r\n\r\n', /malformed HTTP response/],
    ['with an endless head', 'x'.repeat(20_000), /too long/],
  ] as const) {
    test(`fails with a proxy ${name}`, async () => {
      await withProxy(
        (socket) => void (answer.length > 10_000 ? socket.write(answer) : socket.end(answer)),
        async (dialer) => assert.rejects(dialer.dial(target), { code: 'Unreachable', message }),
      );
    });
  }

  test('ends when the caller gives up', async () => {
    const abort = new AbortController();
    await withProxy(
      () => abort.abort(),
      async (dialer) => assert.rejects(dialer.dial({ ...target, signal: abort.signal }), { code: 'Aborted' }),
    );
  });

  test('reports a proxy that does not run', async () => {
    const dialer = new HttpConnectDialer({ proxy: { socket: '/nonexistent/socket' }, clock: systemClock });
    await assert.rejects(dialer.dial(target), { code: 'Unreachable', message: /ENOENT/ });
  });
});
