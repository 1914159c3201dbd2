/**
 * Rejects paths and queries that two servers may interpret differently. The other server must do exactly what was authorized here, so
 * ambiguous requests are not forwarded; no real client sends them.
 */

import { badRequest } from '@hangar/api';
import { splitTarget } from '../request/query.ts';

/** Go ignores all parameters above its own limit, which is much higher than this. */
const parametersMax = 1_000;

/** Reports whether a path has segments that another server may resolve to a different path. */
export const isDevious = (path: string): boolean => /\/(?:\.|%2e){1,2}(?:\/|$)|\/\/|%2f|%5c|\\/i.test(path);

/** Parameters that carry credentials (RFC 6750, OpenID Connect). Kubernetes does not read them. */
const tokenParameters = new Set(['access_token', 'id_token', 'refresh_token', 'bearer_token', 'authorization']);

/** Returns a target that passed `insistOnPlainTarget`, without credentials in its query. */
export function withoutTokens(target: string): string {
  if (!/token|authorization|%/i.test(target)) return target;
  const { path, query } = splitTarget(target);
  if (query === '') return target;
  const isToken = (parameter: string): boolean => {
    const name = decodeURIComponent(parameter.split('=', 1)[0]!.replaceAll('+', ' '));
    return tokenParameters.has(name.trim().toLowerCase());
  };
  const kept = query.split('&').filter((parameter) => !isToken(parameter));
  return kept.length === 0 ? path : `${path}?${kept.join('&')}`;
}

/** Throws 400. */
export function insistOnPlainTarget(target: string): void {
  if (/[^!-~]|#/.test(target)) throw badRequest('invalid character in the URL');
  const { path, query } = splitTarget(target);
  if (path.includes('%')) insistOnPlainPath(path);
  if (query !== '') insistOnPlainQuery(query);
}

/** Rejects needless escapes: a server that compares raw paths does not match `%6eotes` with `notes`. */
function insistOnPlainPath(path: string): void {
  if (!isDecodable(path)) throw badRequest('invalid URL escape in the path');
  for (const [escape] of path.matchAll(/%../g)) {
    if (/[\w.~-]/.test(decodedByte(escape))) throw badRequest(`unnecessary URL escape in the path: ${escape}`);
  }
}

const decodedByte = (escape: string): string => String.fromCharCode(Number.parseInt(escape.slice(1), 16));

/** Go drops parameters with a `;` or an invalid escape, and reads a second `?` as part of the first name. */
function insistOnPlainQuery(query: string): void {
  if (query.includes(';')) throw badRequest('invalid semicolon separator in query');
  if (query.startsWith('?') || !isDecodable(query)) throw badRequest('invalid URL escape in the query');
  let parameters = 1;
  for (let at = query.indexOf('&'); at >= 0; at = query.indexOf('&', at + 1)) parameters++;
  if (parameters > parametersMax) throw badRequest('number of URL query parameters exceeded limit');
}

/** Reports whether all escapes are complete and decode to UTF-8. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
