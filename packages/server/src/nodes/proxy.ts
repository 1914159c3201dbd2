/**
 * Forwards a request to a kubelet, a pod or a service, and returns its response: links of HTML and redirects lead through the proxy, as in
 * kube-apiserver. All tenants are served from one origin, so the response has only headers without effect outside of it.
 */

import { posix } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { badRequest } from '@hangar/api';
import { answeredHeaders } from '../aggregation/answer-headers.ts';
import { bodyOf, send } from '../aggregation/proxy.ts';
import { insistOnNoBody } from '../aggregation/tunnel.ts';
import type { Answer, Headers } from '../http/message.ts';
import { pass } from '../http/relay.ts';
import { splitTarget } from '../request/query.ts';
import type { Call } from '../verbs/call.ts';
import { authority, exchange } from './backend-exchange.ts';
import type { BackendAnswer } from './backend-exchange.ts';
import { proxyError } from './errors.ts';
import { backendHeaders, upgradingHeaders } from './forwarded-headers.ts';
import { HtmlLinks, rewrittenRedirect } from './html-links.ts';
import type { LinkContext } from './html-links.ts';
import type { Backend } from './node-connections.ts';
import { upgraded } from './upgraded.ts';

/** A pod may take long for its response, for example as a long poll. */
const answerTimeoutMs = 600_000;

export async function forwarded(call: Call, backend: Backend): Promise<Answer> {
  const { request } = call;
  const { method } = request;
  // The path with the prefix that selects the control plane: links must lead through it.
  const own = splitTarget(request.originalTarget ?? request.target);
  const path = pathOf(call, own.path);
  const upgrade = request.passing?.upgrade;
  const search = own.query === '' ? '' : `?${own.query}`;
  const host = request.header('host') ?? authority(backend);
  const prefix = own.path.slice(0, own.path.length - restOf(call, own.path).length);
  if (upgrade) {
    insistOnNoBody(request);
    const headers = { ...upgradingHeaders(request), host };
    return upgraded(call, backend, { method, target: `${path || '/'}${search}`, headers }, upgrade);
  }
  if (path === '' && (method === 'GET' || method === 'HEAD')) return withSlash(own.path, search);
  const headers = { ...backendHeaders(request), host, 'x-forwarded-uri': posix.join(prefix, path) };
  const body = await bodyOf(request, headers);
  const target = `${path || '/'}${search}`;
  const answered = await exchange(
    call,
    backend,
    { method, target, headers },
    { answerTimeoutMs, send: (outgoing) => send(outgoing, body) },
  ).catch((error: unknown) => {
    throw proxyError(error);
  });
  const links = { prefix, backendHost: authority(backend), requestHost: host };
  return answer(answered, { method, path: own.path, links });
}

/** Returns the part of the path after `/proxy`, undecoded. */
function restOf({ info }: Call, path: string): string {
  if (info.rest !== '') return `/${info.rest}`;
  return path.endsWith('/') ? '/' : '';
}

/** Returns the path for the backend, cleaned as Go's `path.Join` does; empty if the request has none. */
function pathOf(call: Call, path: string): string {
  const rest = restOf(call, path);
  if (rest === '') return '';
  let decoded: string;
  try {
    decoded = decodeURIComponent(rest);
  } catch (error) {
    throw badRequest('invalid URL escape in the path', error);
  }
  return encodeURI(posix.normalize(decoded)).replace(/[?#]/g, encodeURIComponent);
}

/** A path without a slash is redirected to the same one with a slash, so that relative links work. */
const withSlash = (path: string, search: string): Answer => ({
  status: 301,
  headers: { location: `${path}/${search}`, 'cache-control': 'no-cache, private' },
  body: [],
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly links: LinkContext;
}

function answer({ response, end }: BackendAnswer, { method, path, links }: Asked): Answer {
  const status = response.statusCode ?? 502;
  const headers: Record<string, string | readonly string[]> = { ...answeredHeaders(response.rawHeaders) };
  const { location } = response.headers;
  if (location !== undefined) headers['location'] = rewrittenRedirect(location, path, links);
  if (method === 'HEAD') {
    response.resume();
    response.once('close', end);
    return { status, headers, body: { isFinite: true, start: () => {} } };
  }
  const isRewritten = location === undefined && isHtml(response);
  if (isRewritten) delete headers['content-length'];
  return {
    status,
    headers: headers as Headers,
    body: {
      start(sink) {
        sink.onClose(end);
        pass(isRewritten ? pipeline(response, new HtmlLinks(links), () => {}) : response, sink);
      },
    },
  };
}

/** A compressed response is passed on unchanged. */
const isHtml = ({ headers }: IncomingMessage): boolean =>
  /^\s*text\/html\s*(?:;|$)/.test(headers['content-type'] ?? '') &&
  (headers['content-encoding'] ?? 'identity') === 'identity';
