/**
 * The PROXY protocol: a header at the start of a connection that carries the addresses of the original one. Version 1 is a line of text,
 * version 2 is binary:
 *
 *     PROXY TCP4 192.0.2.7 198.51.100.1 40000 6443\r\n
 */

import { isIPv4, isIPv6, SocketAddress } from 'node:net';

export interface Peer {
  readonly address: string;
  readonly port: number;
}

/** Both ends of a connection, with addresses of the same family. */
export interface ProxiedConnection {
  readonly source: Peer;
  readonly destination: Peer;
}

export type ProxyVersion = 'v1' | 'v2';

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const v1Start = 'PROXY ';
/** With the line break. */
const v1BytesMax = 107;
const v2HeaderBytes = 16;
/** Of the addresses and of the additional fields, which load balancers of clouds use. */
const v2ContentMax = 2048;
const authorityField = 2;

/**
 * Returns the header of a connection. Addresses of different families, or undefined, give a header without addresses.
 * `authority`: the server name, for version 2.
 */
export function proxyHeader(
  version: ProxyVersion,
  connection: ProxiedConnection | undefined,
  authority?: string,
): Buffer {
  const family = connection && familyOf(connection);
  return version === 'v1'
    ? Buffer.from(v1Line(family && connection))
    : v2Header(family === undefined ? undefined : connection, authority);
}

function familyOf({ source, destination }: ProxiedConnection): 4 | 6 | undefined {
  const addresses = [source.address, destination.address];
  if (addresses.every((address) => isIPv4(address))) return 4;
  return addresses.every((address) => isIPv6(address)) ? 6 : undefined;
}

function v1Line(connection: ProxiedConnection | undefined): string {
  if (!connection) return 'PROXY UNKNOWN\r\n';
  const { source, destination } = connection;
  const family = isIPv4(source.address) ? 'TCP4' : 'TCP6';
  return `PROXY ${family} ${source.address} ${destination.address} ${source.port} ${destination.port}\r\n`;
}

function v2Header(connection: ProxiedConnection | undefined, authority: string | undefined): Buffer {
  const name = Buffer.from(authority ?? '');
  const fields =
    authority === undefined ? [] : [Buffer.from([authorityField, name.length >> 8, name.length & 255]), name];
  const content = Buffer.concat([...(connection ? addressBlock(connection) : []), ...fields]);
  const header = Buffer.alloc(4);
  // Version 2; command PROXY, or LOCAL without addresses.
  header[0] = connection ? 0x21 : 0x20;
  header[1] = connection ? (isIPv4(connection.source.address) ? 0x11 : 0x21) : 0;
  header.writeUInt16BE(content.length, 2);
  return Buffer.concat([signature, header, content]);
}

function addressBlock({ source, destination }: ProxiedConnection): Buffer[] {
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(source.port, 0);
  ports.writeUInt16BE(destination.port, 2);
  return [addressBytes(source.address), addressBytes(destination.address), ports];
}

/** Returns 4 or 16 bytes. The address must be valid. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [withoutZone = ''] = address.split('%');
  // An IPv4 address at the end stands for two groups.
  const text = withoutZone.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...parts: string[]) => {
    const [a, b, c, d] = parts.slice(0, 4).map(Number);
    return `${((a! << 8) | b!).toString(16)}:${((c! << 8) | d!).toString(16)}`;
  });
  const [head = '', tail] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const bytes = Buffer.alloc(16);
  for (const [at, group] of [...before, ...zeros, ...after].entries()) bytes.writeUInt16BE(parseInt(group, 16), 2 * at);
  return bytes;
}

export type ProxyHeader =
  | { readonly kind: 'incomplete' }
  /** `connection` is absent if the load balancer itself opened the connection, as for a health check. */
  | { readonly kind: 'header'; readonly connection: ProxiedConnection | undefined; readonly bytes: number }
  | { readonly kind: 'invalid' };

const incomplete: ProxyHeader = { kind: 'incomplete' };
const invalid: ProxyHeader = { kind: 'invalid' };

/** The largest header that `readProxyHeader` accepts. */
export const proxyHeaderBytesMax = v2HeaderBytes + v2ContentMax;

/** Reads the header at the start of `bytes`, which are all bytes of a connection until now. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, signature)) return bytes.length < v2HeaderBytes ? incomplete : readV2(bytes);
  if (startsLike(bytes, Buffer.from(v1Start))) return readV1(bytes);
  return invalid;
}

/** Reports whether `bytes` start with `start`, as far as they go. */
function startsLike(bytes: Buffer, start: Buffer): boolean {
  const count = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, count, 0, count) === 0;
}

function readV1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, v1BytesMax).indexOf('\r\n');
  if (end === -1) return bytes.length < v1BytesMax ? incomplete : invalid;
  const [, family, source = '', destination = '', sourcePort, destinationPort, ...rest] = bytes
    .toString('latin1', 0, end)
    .split(' ');
  const length = end + 2;
  if (family === 'UNKNOWN') return { kind: 'header', connection: undefined, bytes: length };
  const isAddress = family === 'TCP4' ? isIPv4 : family === 'TCP6' ? isIPv6 : () => false;
  const ports = [sourcePort, destinationPort].map(portOf);
  const [from, to] = ports;
  if (!isAddress(source) || !isAddress(destination) || from === undefined || to === undefined || rest.length > 0) {
    return invalid;
  }
  const connection = { source: { address: source, port: from }, destination: { address: destination, port: to } };
  return { kind: 'header', connection, bytes: length };
}

const portOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;

function readV2(bytes: Buffer): ProxyHeader {
  const command = bytes[12]!;
  const family = bytes[13]!;
  const length = bytes.readUInt16BE(14);
  if ((command !== 0x20 && command !== 0x21) || length > v2ContentMax) return invalid;
  const total = v2HeaderBytes + length;
  if (bytes.length < total) return incomplete;
  const content = bytes.subarray(v2HeaderBytes, total);
  if (command === 0x20 || family === 0) return { kind: 'header', connection: undefined, bytes: total };
  const size = family === 0x11 ? 4 : family === 0x21 ? 16 : 0;
  if (size === 0 || content.length < 2 * size + 4) return invalid;
  const peer = (at: number, portAt: number): Peer => ({
    address: addressText(content.subarray(at, at + size)),
    port: content.readUInt16BE(portAt),
  });
  const connection = { source: peer(0, 2 * size), destination: peer(size, 2 * size + 2) };
  return { kind: 'header', connection, bytes: total };
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  // Returns the short form, so that an address has one text.
  return new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address;
}
