/**
 * Headers of responses from aggregated servers. All tenants are served from one origin: to a browser, a response of one tenant's server is
 * indistinguishable from a response of any other tenant's server or of the console. So only headers that have no effect outside the
 * response are returned (no cookies, no HSTS, no Alt-Svc, no CORS, no service workers, no challenges), and no response runs as a document.
 */

import type { Headers } from '../http/message.ts';
import { isKubernetesHeader, namesIn } from './headers.ts';

const returned = new Set([
  'accept-ranges',
  'allow',
  'audit-id',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'deprecation',
  'etag',
  'expires',
  'last-modified',
  'pragma',
  'retry-after',
  'sunset',
  'vary',
  'warning',
  'x-request-id',
]);

/** Headers of the response that switches the protocol. */
const returnedOnUpgrade = new Set([
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'x-stream-protocol-version',
]);

/** A response opened as a page runs nothing, loads nothing, and has an opaque origin. */
const inert = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
};

/** Media types that browsers show as text or save. All others, including a missing type, are saved and never shown. */
const plainTypes =
  /^(?:text\/plain|text\/yaml|text\/event-stream|application\/(?:json|yaml|x-yaml|x-ndjson|octet-stream|gzip|x-tar|zip|openmetrics-text|vnd\.kubernetes\.protobuf|com\.github\.proto-openapi\.[\w.@-]+|[\w.-]+\+(?:json|yaml|protobuf)))(?:\s*;[^,]*)?$/i;

/** Returns the headers of the remote response for the client. */
export function answeredHeaders(raw: readonly string[]): Headers {
  const headers: Record<string, string | string[]> = {};
  for (const [name, values] of grouped(raw)) {
    if (!returned.has(name) && !isKubernetesHeader(name)) continue;
    headers[name] = values.length === 1 ? values[0]! : values;
  }
  const type = headers['content-type'];
  const isPlain = typeof type === 'string' && plainTypes.test(type.trim());
  return { ...headers, ...inert, ...(isPlain ? {} : { 'content-disposition': 'attachment' }) };
}

/** Returns header names and values of the response that switches to `protocol`. */
export function upgradeHeaders(raw: readonly string[], protocol: string): [string, string][] {
  const headers: [string, string][] = [
    ['Connection', 'Upgrade'],
    ['Upgrade', protocol],
  ];
  for (const [name, values] of grouped(raw)) {
    if (returnedOnUpgrade.has(name)) for (const value of values) headers.push([name, value]);
  }
  return headers;
}

/** Groups headers by name, without those that `Connection` lists. */
function* grouped(raw: readonly string[]): Generator<[string, string[]]> {
  const all = new Map<string, string[]>();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    const known = all.get(name);
    if (known) known.push(raw[i + 1]!);
    else all.set(name, [raw[i + 1]!]);
  }
  const listed = namesIn(all.get('connection')?.join(','));
  for (const entry of all) if (!listed.has(entry[0])) yield entry;
}
