/** Parses the `Impersonate-*` headers. */

import { badRequest, quote } from '@hangar/api';
import type { ServerRequest } from '../../http/message.ts';
import type { User } from '../user.ts';

const prefix = 'impersonate-';
const extraPrefix = 'impersonate-extra-';

/** Returns undefined for most requests, after one pass over the headers. Throws 400 if the user name is missing. */
export function wantedUser(request: ServerRequest): User | undefined {
  const names = request.headerNames();
  if (!names.some((name) => name.startsWith(prefix))) return undefined;
  const first = (name: string): string => utf8(request.headerValues(name)[0] ?? '');
  const extra = extraOf(request, names, extraPrefix);
  const user = {
    name: first('impersonate-user'),
    uid: first('impersonate-uid'),
    groups: request.headerValues('impersonate-group').map(utf8),
    extra,
  };
  if (user.name !== '') return user;
  if (user.uid === '' && user.groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(`requested ${goText(user)} without impersonating a user name`);
}

/** Decodes UTF-8 in a header value, which has one character per byte. */
export const utf8 = (value: string): string => Buffer.from(value, 'latin1').toString();

/** Returns the values of headers with a prefix; the percent-decoded rest of each name is the key. */
export function extraOf(
  request: ServerRequest,
  names: readonly string[],
  ofPrefix: string,
): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, string[]>();
  for (const name of names) {
    if (!name.startsWith(ofPrefix)) continue;
    const key = decoded(name.slice(ofPrefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...request.headerValues(name).map(utf8)]);
  }
  return Object.fromEntries([...extra].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Invalid escapes are kept as they are. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function goText({ name, uid, groups, extra }: User): string {
  const list = (texts: readonly string[]): string =>
    texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(quote).join(', ')}}`;
  const entries = Object.entries(extra).map(([key, values]) => `${quote(key)}:${list(values)}`);
  const map = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${list(groups)}, Extra:${map}}`;
}
