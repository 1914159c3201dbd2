/**
 * What goes through the proxy and what does not. Who the user is, is said by this server alone: whatever a client sent that
 * looks like it is removed first, and so are the credentials, which are no one else's business.
 */

import type { User } from '../auth/user.ts';
import type { Headers, ServerRequest } from '../http/message.ts';

/** RFC 9110, 7.6.1: of one connection only. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Said anew, or used up here. How long the body is, is said by whoever sends it: another length would begin a request. */
const own = new Set(['host', 'authorization', 'content-length', 'expect', 'via', 'x-forwarded-for', 'http2-settings']);

const isIdentity = (name: string): boolean =>
  // Some servers read `_` as `-`.
  /^(?:x[-_]remote[-_](?:user|group|uid|extra[-_])|impersonate[-_])/.test(name);

/** As aggregated servers are told to read them. */
export const identityHeaderNames = {
  user: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
};

type Sent = Record<string, string | string[]>;

/** Headers for the other server. `self` names this one, so that a request that comes back is known. */
export function forwardedHeaders(request: ServerRequest, user: User, self: string): Sent {
  const headers: Sent = {};
  const listed = namesIn(request.header('connection'));
  for (const name of request.headerNames()) {
    if (name.startsWith(':') || hopByHop.has(name) || own.has(name) || listed.has(name) || isIdentity(name)) continue;
    const values = request.headerValues(name);
    headers[name] = values.length === 1 ? values[0]! : [...values];
  }
  const { address } = request.peer;
  headers['x-forwarded-for'] = [...request.headerValues('x-forwarded-for'), address].join(', ');
  headers['via'] = [...request.headerValues('via'), `1.1 ${self}`].join(', ');
  return { ...headers, ...identityHeaders(user) };
}

export function identityHeaders({ name, uid, groups, extra }: User): Sent {
  const headers: Sent = { 'x-remote-user': latin1(name) };
  if (uid !== '') headers['x-remote-uid'] = latin1(uid);
  if (groups.length > 0) headers['x-remote-group'] = groups.map(latin1);
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`x-remote-extra-${escapedKey(key)}`] = values.map(latin1);
  }
  return headers;
}

/** Headers are bytes: UTF-8, as Go writes them. */
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** What cannot be in a header's name is written as `%2F`. */
const escapedKey = (key: string): string =>
  Buffer.from(key)
    .toString('latin1')
    .replace(
      /[^!#$&'*+.^_`|~0-9A-Za-z-]/g,
      (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );

/** Headers of the other server's answer. */
export function answeredHeaders(raw: readonly string[]): Headers {
  const all: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (let i = 0; i + 1 < raw.length; i += 2) (all[raw[i]!.toLowerCase()] ??= []).push(raw[i + 1]!);
  const listed = namesIn(all['connection']?.join(','));
  const headers: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(all)) {
    if (hopByHop.has(name) || listed.has(name)) continue;
    headers[name] = values.length === 1 ? values[0]! : values;
  }
  return headers;
}

const namesIn = (connection: string | undefined): ReadonlySet<string> =>
  new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()));

/** The request was here before: an APIService leads back to this very server. */
export const isReturning = (request: ServerRequest, self: string): boolean =>
  (request.header('via') ?? '').split(',').some((one) => one.trim().endsWith(` ${self}`));
