/**
 * Opens a tunnel through a proxy: CONNECT of HTTP (RFC 9110, 9.3.6) or SOCKS 5 (RFC 1928, with names resolved by the proxy and passwords of
 * RFC 1929). Afterwards the connection leads to the server. Rejects with `ConnectionFailed`.
 */

import type { Duplex } from 'node:stream';
import type { Address } from '@hangar/core';
import { ClientError } from '../errors.ts';

const headBytesMax = 64 * 1024;

export function tunnel(socket: Duplex, proxy: URL, to: Address): Promise<void> {
  return proxy.protocol.startsWith('socks5') ? socks5(socket, proxy, to) : connect(socket, proxy, to);
}

const failed = (message: string, cause?: unknown): ClientError =>
  new ClientError('ConnectionFailed', `the proxy ${message}`, { cause });

const user = (proxy: URL): string => decodeURIComponent(proxy.username);
const password = (proxy: URL): string => decodeURIComponent(proxy.password);

async function connect(socket: Duplex, proxy: URL, { host, port }: Address): Promise<void> {
  const target = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const basic = Buffer.from(`${user(proxy)}:${password(proxy)}`).toString('base64');
  const authorization = proxy.username === '' ? '' : `proxy-authorization: Basic ${basic}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization}\r\n`);
  const head = await taken(socket, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n');
    return end === -1 ? undefined : end + 4;
  });
  // Only the code: the rest of the line is text of the proxy, which must not appear in messages.
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?!\d)/.exec(head.toString('latin1')) ?? [];
  if (!status?.startsWith('2')) throw failed(`refused to connect to ${target}: ${status ?? 'it does not speak HTTP'}`);
}

/** SOCKS encodes the length of a name in one byte. */
function short(text: string, what: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw failed(`cannot be used: the ${what} is longer than 255 bytes`);
  return bytes;
}

const replies = ['', 'general failure', 'not allowed', 'network unreachable', 'host unreachable', 'connection refused'];

async function socks5(socket: Duplex, proxy: URL, { host, port }: Address): Promise<void> {
  const [name, word, server] = [
    short(user(proxy), 'user name'),
    short(password(proxy), 'password'),
    short(host, 'host name of the server'),
  ];
  const method = proxy.username === '' ? 0 : 2;
  socket.write(Buffer.from([5, 1, method]));
  const chosen = await taken(socket, exactly(2));
  if (chosen[0] !== 5 || chosen[1] !== method)
    throw failed('does not speak SOCKS 5, or requires another authentication method');
  if (method === 2) {
    socket.write(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([word.length]), word]));
    if ((await taken(socket, exactly(2)))[1] !== 0) throw failed('rejected the user name and password');
  }
  socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3, server.length]), server, Buffer.from([port >> 8, port & 255])]));
  const head = await taken(socket, exactly(4));
  if (head[1] !== 0) throw failed(`cannot connect to ${host}:${port}: ${replies[head[1]!] ?? `code ${head[1]}`}`);
  // Skips the bound address: an IP address by its type, or a name by its length.
  const length = head[3] === 1 ? 4 : head[3] === 4 ? 16 : (await taken(socket, exactly(1)))[0]!;
  await taken(socket, exactly(length + 2));
}

const exactly =
  (length: number) =>
  (bytes: Buffer): number | undefined =>
    bytes.length < length ? undefined : length;

/** Resolves with the bytes up to the length of `lengthOf`; later bytes stay in the socket. */
function taken(socket: Duplex, lengthOf: (bytes: Buffer) => number | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let all = Buffer.alloc(0);
    const onReadable = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        all = Buffer.concat([all, chunk]);
        const length = lengthOf(all);
        if (length !== undefined) {
          release();
          if (length < all.length) socket.unshift(all.subarray(length));
          return resolve(all.subarray(0, length));
        }
        if (all.length > headBytesMax) return onEnd();
      }
    };
    const onEnd = (error?: Error): void => {
      release();
      reject(failed(`broke off${error ? `: ${error.message}` : ''}`, error));
    };
    const onClose = (): void => onEnd();
    const release = (): void => {
      socket.off('readable', onReadable).off('error', onEnd).off('end', onClose).off('close', onClose);
    };
    socket.on('readable', onReadable).on('error', onEnd).on('end', onClose).on('close', onClose);
    if (socket.destroyed) onEnd();
    else onReadable();
  });
}
