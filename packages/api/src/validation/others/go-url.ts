/** URLs as Go's parser splits them, as far as their validation needs it. */

import { quote } from '../../status/field-error.ts';

export interface GoUrl {
  readonly scheme: string;
  readonly host: string;
  /** Undefined without `@`. */
  readonly user: string | undefined;
  readonly query: string;
  readonly fragment: string;
}

/** The URL, or why it is none. */
export function parseGoUrl(text: string): GoUrl | string {
  const fail = (why: string): string => `parse ${quote(text)}: ${why}`;
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  const main = hash < 0 ? text : text.slice(0, hash);
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(main)) return fail('net/url: invalid control character in URL');
  if (main.startsWith(':')) return fail('missing protocol scheme');
  const [, scheme = '', afterScheme = main] = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/s.exec(main) ?? [];
  const mark = afterScheme.indexOf('?');
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1);
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  if (scheme === '' && /^[^/]*:/.test(rest)) return fail('first path segment in URL cannot contain colon');
  const isRooted = rest.startsWith('//') && !(scheme === '' && rest.startsWith('///'));
  const authority = isRooted ? rest.slice(2).split('/', 1)[0]! : '';
  const problem = escapeProblem(isRooted ? rest.slice(2 + authority.length) : rest) ?? hostProblem(authority);
  if (problem !== undefined) return fail(problem);
  const at = authority.lastIndexOf('@');
  return {
    scheme: scheme.toLowerCase(),
    host: authority.slice(at + 1),
    user: at < 0 ? undefined : authority.slice(0, at),
    query,
    fragment,
  };
}

function escapeProblem(path: string): string | undefined {
  const [bad] = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(path) ?? [];
  return bad === undefined ? undefined : `invalid URL escape ${quote(bad)}`;
}

function hostProblem(authority: string): string | undefined {
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const [bad] = /[ "<>\\^`{|}]/.exec(host) ?? [];
  if (bad !== undefined) return `invalid character ${quote(bad)} in host name`;
  const port = host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : (/:[^:]*$/.exec(host)?.[0] ?? '');
  return /^(:\d*)?$/.test(port) ? undefined : `invalid port ${quote(port)} after host`;
}
