/**
 * Lets containerd pull images through the network of this machine. A node has no route to other machines unless this machine forwards
 * packets, and `hangar node run` does not change such settings. containerd receives the address as HTTPS_PROXY, with a password: pods
 * cannot use the proxy.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { BlockList, connect, isIPv6 } from 'node:net';
import type { AddressInfo } from 'node:net';
import { lookup } from 'node:dns/promises';
import type { Duplex } from 'node:stream';

export interface PullProxy extends AsyncDisposable {
  /** With the password. */
  readonly url: string;
}

const connectionsMax = 200;
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addSubnet('0.0.0.0', 8, 'ipv4');
loopback.addSubnet('::', 127, 'ipv6');
loopback.addSubnet('::ffff:127.0.0.0', 104, 'ipv6');

/** `isRefused` decides about resolved addresses. Default: those of the loopback interface, where services expect local clients. */
export async function startPullProxy(address: string, isRefused = isLoopback): Promise<PullProxy> {
  const password = randomBytes(24).toString('hex');
  const expected = Buffer.from(`Basic ${Buffer.from(`node:${password}`).toString('base64')}`);
  const open = new Set<Duplex>();
  const track = (stream: Duplex): void => {
    open.add(stream);
    stream.once('close', () => open.delete(stream));
  };
  const server = createServer((_, response) => response.writeHead(405).end());
  server.maxConnections = connectionsMax;
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    track(client);
    client.on('error', () => client.destroy());
    const given = Buffer.from(request.headers['proxy-authorization'] ?? '');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return refuse(client, 407);
    dial(request.url ?? '', isRefused).then(
      (upstream) => {
        track(upstream);
        upstream.on('error', () => client.destroy());
        upstream.on('close', () => client.destroy());
        client.on('close', () => upstream.destroy());
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      },
      (error: unknown) => refuse(client, error instanceof RefusedAddress ? 403 : 502),
    );
  });
  server.listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://node:${password}@${address}:${port}`,
    async [Symbol.asyncDispose]() {
      for (const stream of open) stream.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

class RefusedAddress extends Error {}

async function dial(target: string, isRefused: (address: string) => boolean): Promise<Duplex> {
  const [, host, port] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(target) ?? [];
  if (host === undefined) throw new RefusedAddress(target);
  const { address } = await lookup(host);
  if (isRefused(address)) throw new RefusedAddress(address);
  const upstream = connect({ host: address, port: Number(port) });
  await once(upstream, 'connect');
  return upstream;
}

const isLoopback = (address: string): boolean => loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

const reasons: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  502: 'Bad Gateway',
};

function refuse(client: Duplex, code: number): void {
  const challenge = code === 407 ? 'Proxy-Authenticate: Basic realm="node"\r\n' : '';
  client.end(`HTTP/1.1 ${code} ${reasons[code]}\r\n${challenge}Content-Length: 0\r\nConnection: close\r\n\r\n`);
}
