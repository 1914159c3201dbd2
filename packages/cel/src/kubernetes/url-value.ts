/**
 * Absolute URLs and absolute paths as Go's `net/url` parses them: in some respects more lenient than browsers (no host needed), in others
 * stricter (escapes must be valid), so JavaScript's URL would differ.
 */

import { Opaque } from '../values/values.ts';
import { allocate, entryBytes, work } from '../work.ts';

const nsPerCharacter = 30;
const nsPerPair = 500;

export class UrlValue extends Opaque {
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(parts: { text: string; scheme: string; host: string; path: string; query: string }) {
    super();
    this.text = parts.text;
    this.scheme = parts.scheme;
    this.host = parts.host;
    this.path = parts.path;
    this.query = parts.query;
  }

  override get typeName(): string {
    return 'kubernetes.URL';
  }

  override get size(): number {
    return this.text.length;
  }

  override equals(other: Opaque): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }

  /** Without the port, and without the brackets around an IPv6 address. */
  get hostname(): string {
    work(this.host.length * nsPerCharacter);
    const bracket = /^\[([^\]]*)\]/.exec(this.host);
    return bracket ? bracket[1]! : this.host.replace(/:[^:]*$/, '');
  }

  get port(): string {
    work(this.host.length * nsPerCharacter);
    return /^(?:\[[^\]]*\]|[^:]*):(\d*)$/.exec(this.host)?.[1] ?? '';
  }

  /** Returns each key with all its values; malformed pairs are left out. */
  queryValues(): Map<string, string[]> {
    const values = new Map<string, string[]>();
    work(this.query.length * nsPerCharacter);
    for (const pair of this.query.split('&')) {
      work(nsPerPair);
      allocate(2 * entryBytes);
      if (pair === '' || pair.includes(';')) continue;
      const [rawKey = '', ...rest] = pair.split('=');
      const key = unescape(rawKey.replaceAll('+', ' '));
      const value = unescape(rest.join('=').replaceAll('+', ' '));
      if (key === undefined || value === undefined) continue;
      const list = values.get(key);
      if (list === undefined) values.set(key, [value]);
      else list.push(value);
    }
    return values;
  }
}

/** Percent-decodes; undefined if an escape is invalid. Bytes that are not UTF-8 become U+FFFD. */
function unescape(text: string): string | undefined {
  if (!/%/.test(text)) return text;
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** Characters allowed unescaped in a host. */
const hostForm = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\u{10ffff}]|%[0-9a-fA-F]{2})*$/u;
const userForm = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;

export function parseUrl(text: string): UrlValue | undefined {
  // Validity as a request URI decides; then a fragment is removed.
  return parseParts(text, true) === undefined ? undefined : parseParts(text.replace(/#.*$/s, ''), false);
}

function parseParts(text: string, forRequest: boolean): UrlValue | undefined {
  work(text.length * nsPerCharacter);
  // eslint-disable-next-line no-control-regex
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text)) return undefined;
  const empty = { text, scheme: '', host: '', path: '', query: '' };
  if (text === '*') return new UrlValue({ ...empty, path: '*' });
  if (text.startsWith(':')) return undefined;
  const schemeMatch = /^([A-Za-z][A-Za-z0-9+\-.]*):/.exec(text);
  const scheme = schemeMatch?.[1]?.toLowerCase() ?? '';
  const afterScheme = text.slice(schemeMatch?.[0].length ?? 0);
  const mark = afterScheme.indexOf('?');
  const query = mark === -1 ? '' : afterScheme.slice(mark + 1);
  let rest = mark === -1 ? afterScheme : afterScheme.slice(0, mark);
  if (!rest.startsWith('/')) {
    if (scheme !== '') return new UrlValue({ ...empty, scheme, query });
    if (forRequest) return undefined;
  }
  let host = '';
  if ((scheme !== '' || !forRequest) && rest.startsWith('//') && !(scheme === '' && rest.startsWith('///'))) {
    const slash = rest.indexOf('/', 2);
    const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash === -1 ? '' : rest.slice(slash);
    const at = authority.lastIndexOf('@');
    if (at !== -1 && !userForm.test(authority.slice(0, at))) return undefined;
    const parsed = parseHost(authority.slice(at + 1));
    if (parsed === undefined) return undefined;
    host = parsed;
  }
  if (unescape(rest) === undefined) return undefined;
  return new UrlValue({ text, scheme, host, path: escapedPath(rest), query });
}

function parseHost(host: string): string | undefined {
  if (!hostForm.test(host)) return undefined;
  if (host.startsWith('[')) return /^\[[^\]]*\](?::\d*)?$/.test(host) ? host : undefined;
  const colon = host.lastIndexOf(':');
  if (colon !== -1 && !/^\d*$/.test(host.slice(colon + 1))) return undefined;
  return unescape(host);
}

/** Returns the path as written if that is a valid encoding, else with the invalid characters escaped. */
function escapedPath(path: string): string {
  if (/^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]]|%[0-9a-fA-F]{2})*$/.test(path)) return path;
  return (unescape(path) ?? path).replace(/[^A-Za-z0-9\-_.~$&+,/:;=@]/gu, (char) =>
    [...Buffer.from(char, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}
