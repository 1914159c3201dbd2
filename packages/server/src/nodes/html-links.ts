/**
 * Rewrites links of proxied HTML so that they lead through the proxy, as kube-apiserver does: absolute paths and URLs of the same host get
 * the path of the proxy in front. Works on a stream, with bounded memory.
 */

import { posix } from 'node:path';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';

export interface LinkContext {
  /** Path of the proxy: `/api/v1/namespaces/default/pods/web/proxy`. */
  readonly prefix: string;
  /** `host:port` of the backend. */
  readonly backendHost: string;
  /** `Host` header of the request. */
  readonly requestHost: string;
}

/** Returns the link through the proxy; links to other hosts and relative ones are returned unchanged. */
export function rewrittenLink(link: string, { prefix, backendHost, requestHost }: LinkContext): string {
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/s.exec(link);
  if (!match) return link;
  const [, scheme, host = '', path = '', rest = ''] = match;
  const isOtherHost = host !== '' && host !== backendHost && host !== requestHost;
  if (isOtherHost || !path.startsWith('/')) return link;
  const origin = host !== '' && host === requestHost ? `${scheme === undefined ? '' : `${scheme}:`}//${host}` : '';
  if (path.startsWith(prefix)) return `${origin}${path}${rest}`;
  return `${origin}${posix.join(prefix, path)}${rest}`;
}

/**
 * Returns the target of a redirect for the request with this path. A client follows a redirect to this server with its credentials, and
 * other paths belong to other tenants, so such a redirect never leaves the proxy.
 */
export function rewrittenRedirect(location: string, path: string, context: LinkContext): string {
  const { prefix, requestHost } = context;
  const link = rewrittenLink(location, context);
  const base = URL.parse(`https://${requestHost}${path}`);
  const target = base && URL.parse(link, base);
  if (!target) return `${prefix}/`;
  const { pathname, search, hash } = target;
  const isInside = pathname === prefix || pathname.startsWith(`${prefix}/`);
  return target.host !== base.host || isInside ? link : `${prefix}${pathname}${search}${hash}`;
}

/** Attributes with URLs by element. */
const attributes: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};

/** Elements whose content is text, not tags. */
const textElements = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes']);

/** A tag or comment that is longer is passed on unchanged. */
const tagCharactersMax = 8 * 1024;

/** Bytes are read as Latin-1 and written unchanged, so every encoding that contains ASCII works. */
export class HtmlLinks extends Transform {
  readonly #context: LinkContext;
  #rest = '';
  /** Name of the element whose end tag ends the text. */
  #textElement = '';

  constructor(context: LinkContext) {
    super();
    this.#context = context;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const text = this.#rest + chunk.toString('latin1');
    const { output, rest } = this.#rewrite(text);
    this.#rest = rest;
    done(null, Buffer.from(output, 'latin1'));
  }

  override _flush(done: TransformCallback): void {
    done(null, Buffer.from(this.#rest, 'latin1'));
  }

  /** Returns the rewritten text up to the last complete token, and the rest. */
  #rewrite(text: string): { output: string; rest: string } {
    let output = '';
    let at = 0;
    for (;;) {
      const begin = text.indexOf('<', at);
      if (begin < 0) return { output: output + text.slice(at), rest: '' };
      output += text.slice(at, begin);
      const end = this.#endOfToken(text, begin);
      if (end < 0) {
        const rest = text.slice(begin);
        return rest.length > tagCharactersMax ? { output: output + rest, rest: '' } : { output, rest };
      }
      output += this.#token(text.slice(begin, end));
      at = end;
    }
  }

  /** Returns the position after the token that starts at `begin`, or -1 if it is not complete. */
  #endOfToken(text: string, begin: number): number {
    if (this.#textElement !== '') {
      const close = `</${this.#textElement}`;
      const found = text.slice(begin, begin + close.length + 1);
      if (found.length <= close.length && close.startsWith(found.toLowerCase())) return -1;
      if (!found.toLowerCase().startsWith(close) || !/[\s/>]$/.test(found)) return begin + 1;
    } else if (text.startsWith('<!--', begin)) {
      const end = text.indexOf('-->', begin + 4);
      return end < 0 ? -1 : end + 3;
    } else if ('<!--'.startsWith(text.slice(begin))) {
      return -1;
    } else if (!/[A-Za-z/!?]/.test(text[begin + 1]!)) {
      return begin + 1;
    }
    let quote = '';
    for (let at = begin + 1; at < text.length; at++) {
      const character = text[at]!;
      if (quote !== '') {
        if (character === quote) quote = '';
      } else if ((character === '"' || character === "'") && /=\s*$/.test(text.slice(Math.max(begin, at - 16), at))) {
        quote = character;
      } else if (character === '>') return at + 1;
    }
    return -1;
  }

  #token(token: string): string {
    const closed = /^<\/([a-z]+)/i.exec(token)?.[1];
    if (closed !== undefined) {
      if (closed.toLowerCase() === this.#textElement) this.#textElement = '';
      return token;
    }
    const name = /^<([a-z][a-z0-9]*)/i.exec(token)?.[1]?.toLowerCase();
    if (name === undefined || this.#textElement !== '') return token;
    if (textElements.has(name) && !token.endsWith('/>')) this.#textElement = name;
    const ofElement = attributes[name];
    return ofElement ? this.#withLinks(token, ofElement) : token;
  }

  #withLinks(token: string, names: readonly string[]): string {
    return token.replace(
      /(\s)([a-z]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/gi,
      (all: string, space: string, name: string, equals: string, value: string) => {
        if (!names.includes(name.toLowerCase())) return all;
        const isQuoted = /^["']/.test(value);
        const link = isQuoted ? value.slice(1, -1) : value;
        const rewritten = rewrittenLink(link, this.#context);
        return rewritten === link ? all : `${space}${name}${equals}"${rewritten.replaceAll('"', '&#34;')}"`;
      },
    );
  }
}
