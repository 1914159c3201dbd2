/** Builds the head of a request from its header fields, if RFC 9113, 8.3 allows them. */

import { role } from '@hangar/http2';
import type { Field } from '@hangar/http2';

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  /** -1: not given. */
  readonly contentLength: number;
}

/** Returns undefined if malformed. */
export function requestHead(fields: readonly Field[]): RequestHead | undefined {
  let method: string | undefined;
  let scheme: string | undefined;
  let path: string | undefined;
  let authority: string | undefined;
  let host: string | undefined;
  let contentLength = -1;
  let isPastPseudo = false;
  for (const field of fields) {
    const { value } = field;
    if (field.role >= role.method && field.role <= role.authority && isPastPseudo) return undefined;
    switch (field.role) {
      case role.bad:
        return undefined;
      case role.method:
        if (method !== undefined) return undefined;
        method = value;
        break;
      case role.scheme:
        if (scheme !== undefined) return undefined;
        scheme = value;
        break;
      case role.path:
        if (path !== undefined) return undefined;
        path = value;
        break;
      case role.authority:
        if (authority !== undefined) return undefined;
        authority = value;
        break;
      case role.host:
        if (host !== undefined) return undefined;
        host = value;
        isPastPseudo = true;
        break;
      case role.contentLength: {
        const length = lengthOf(value);
        if (length === undefined || (contentLength !== -1 && contentLength !== length)) return undefined;
        contentLength = length;
        isPastPseudo = true;
        break;
      }
      default:
        isPastPseudo = true;
    }
  }
  // Different names for one server could be interpreted differently by two servers.
  if (host !== undefined && authority !== undefined && host !== authority) return undefined;
  if (!method || !isMethod.test(method)) return undefined;
  const target = targetOf(method, scheme, path, authority);
  return target === undefined ? undefined : { method, target, contentLength };
}

const isMethod = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// eslint-disable-next-line no-control-regex
const notInTarget = /[\0-\x20\x7f-\xff]/;

function targetOf(method: string, scheme?: string, path?: string, authority?: string): string | undefined {
  // CONNECT has only an authority (RFC 9113, 8.5). The handler refuses it.
  if (method === 'CONNECT') return scheme === undefined && path === undefined && authority ? authority : undefined;
  if (!scheme || !path || notInTarget.test(path)) return undefined;
  return path.startsWith('/') || (method === 'OPTIONS' && path === '*') ? path : undefined;
}

function lengthOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Trailers are checked and dropped: none are supported. */
export const areTrailers = (fields: readonly Field[]): boolean =>
  fields.every(({ role: its }) => its === role.ordinary || its === role.host);
