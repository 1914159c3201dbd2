/**
 * Selects the proxy for a server: that of the cluster, or that of the environment with the rules of Go and curl. `NO_PROXY` lists direct
 * destinations: `*`, addresses, networks, `example.com` with its subdomains, `.example.com` for subdomains only, each with an optional
 * port. The local machine is always reached directly.
 */

import { BlockList, isIP } from 'node:net';
import { ClientError } from '../errors.ts';
import type { ServerAddress } from './server-address.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Throws `InvalidKubeconfig` for an invalid proxy. */
export function proxyFor(address: ServerAddress, own: string | undefined, environment: Environment): URL | undefined {
  if (own) return proxyUrl(own, 'proxy-url');
  const name = address.isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const given = environment[name] || environment[name.toLowerCase()];
  if (!given || isDirect(address, environment['NO_PROXY'] || environment['no_proxy'] || '')) return undefined;
  return proxyUrl(given, name);
}

/** Omits the text from the error: it may contain a password. */
function proxyUrl(text: string, source: string): URL {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url && ['http:', 'https:', 'socks5:', 'socks5h:'].includes(url.protocol) && url.hostname !== '') return url;
  throw new ClientError('InvalidKubeconfig', `${source}: is not the URL of an http, https or socks5 proxy`);
}

function isDirect({ host, port }: ServerAddress, list: string): boolean {
  if (host === 'localhost' || isLoopback(host)) return true;
  return list.split(',').some((entry) => covers(entry.trim().toLowerCase(), host.toLowerCase(), port));
}

const isLoopback = (host: string): boolean => host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function covers(entry: string, host: string, port: number): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return isIn(entry, host);
  const [, name = entry, onlyPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
  if (onlyPort !== undefined && Number(onlyPort) !== port) return false;
  const plain = name.replace(/^\[(.*)\]$/, '$1').replace(/^\*\./, '.');
  if (plain.startsWith('.')) return host.endsWith(plain);
  return host === plain || (isIP(host) === 0 && host.endsWith(`.${plain}`));
}

function isIn(network: string, host: string): boolean {
  const [address = '', length = ''] = network.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(length)) return false;
  if (Number(length) > (family === 6 ? 128 : 32)) return false;
  const name = family === 6 ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(address, Number(length), name);
  return list.check(host, name);
}
