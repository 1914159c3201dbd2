/**
 * Headers of requests to aggregated servers. An aggregated server belongs to the tenant that registered it, not to the client, so the
 * client's credentials are not sent to it. Only the headers on the list below are forwarded, so that a credential in an unknown header (of
 * a proxy in front of this server, of another application on the same origin) is not forwarded either. The user's identity is set only by
 * this server.
 */

import type { User } from '../auth/user.ts';
import type { ServerRequest } from '../http/message.ts';

/** Content negotiation, conditions, tracing, and the handshakes of WebSocket and SPDY. */
const forwarded = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'audit-id',
  'cache-control',
  'content-encoding',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'kubectl-command',
  'kubectl-session',
  'pragma',
  'range',
  'sec-websocket-extensions',
  'sec-websocket-key',
  'sec-websocket-protocol',
  'sec-websocket-version',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-request-id',
  'x-stream-protocol-version',
]);

/** Headers of Kubernetes itself. */
export const isKubernetesHeader = (name: string): boolean => name.startsWith('x-kubernetes-');

/** A browser cannot set `Authorization` on a WebSocket: Kubernetes takes a token as the name of a subprotocol. */
const bearerProtocol = 'base64url.bearer.authorization.k8s.io.';

/** Header names that `extension-apiserver-authentication` announces. */
export const identityHeaderNames = {
  user: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
};

type Sent = Record<string, string | string[]>;

/** Returns the headers for the other server. `self` names this server, so that a request that loops back is recognized. */
export function forwardedHeaders(request: ServerRequest, user: User, self: string): Sent {
  const headers = plainHeaders(request);
  const { address } = request.peer;
  headers['x-forwarded-for'] = [...request.headerValues('x-forwarded-for'), address].join(', ');
  headers['via'] = [...request.headerValues('via'), `1.1 ${self}`].join(', ');
  return { ...headers, ...identityHeaders(user) };
}

/** Returns the headers of a request that are on the list. */
export function plainHeaders(request: ServerRequest): Sent {
  const headers: Sent = {};
  const listed = namesIn(request.header('connection'));
  for (const name of request.headerNames()) {
    if (listed.has(name) || !(forwarded.has(name) || isKubernetesHeader(name))) continue;
    const given = request.headerValues(name);
    const values = name === 'sec-websocket-protocol' ? withoutBearer(given) : given;
    if (values.length > 0) headers[name] = values.length === 1 ? values[0]! : [...values];
  }
  return headers;
}

const withoutBearer = (values: readonly string[]): string[] =>
  values
    .map((value) =>
      value
        .split(',')
        .map((protocol) => protocol.trim())
        .filter((protocol) => protocol !== '' && !protocol.toLowerCase().startsWith(bearerProtocol))
        .join(', '),
    )
    .filter((value) => value !== '');

export function identityHeaders({ name, uid, groups, extra }: User): Sent {
  const headers: Sent = { 'x-remote-user': latin1(name) };
  if (uid !== '') headers['x-remote-uid'] = latin1(uid);
  if (groups.length > 0) headers['x-remote-group'] = groups.map(latin1);
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`x-remote-extra-${escapedKey(key)}`] = values.map(latin1);
  }
  return headers;
}

/** Header values are bytes: UTF-8, as Go writes them. */
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** Percent-encodes characters that are not allowed in a header name, such as `%2F`. */
const escapedKey = (key: string): string =>
  Buffer.from(key)
    .toString('latin1')
    .replace(
      /[^!#$&'*+.^_`|~0-9A-Za-z-]/g,
      (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    );

/** Returns the header names that a `Connection` header lists, in lower case. */
export const namesIn = (connection: string | undefined): ReadonlySet<string> =>
  new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()));

/** Reports whether the request looped back: an APIService refers to this server. */
export const isReturning = (request: ServerRequest, self: string): boolean =>
  (request.header('via') ?? '').split(',').some((one) => one.trim().endsWith(` ${self}`));
