/**
 * The one client for everything that the server calls: webhooks, issuers, other API servers. HTTPS over HTTP/1.1 with
 * connections kept for the next call; a call has a time and a size that it may cost, and costs them to its caller only.
 * Redirects are answers like others: they are never followed, and answers are never compressed.
 */

import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { AddressPolicy } from './address-policy.ts';
import { AnswerBudget } from './answer-budget.ts';
import { CallLimit } from './call-limit.ts';
import { checkLiteral, guardedLookup, openConnection, tlsOptions } from './connector.ts';
import type { Destination, Resolver, TlsIdentity } from './connector.ts';
import { OutboundError, outboundError } from './errors.ts';
import { HostAddresses } from './host-addresses.ts';

export interface OutboundOptions {
  /** Networks that tenants' targets may be in although they are loopback or link-local: `127.0.0.0/8`. */
  readonly allow?: readonly string[];
  readonly clock?: Clock;
  /** Of names to addresses; absent: the system's. */
  readonly resolver?: Resolver;
  /** Addresses of this machine, which tenants do not reach unless `allow` has them; absent: the operating system's list. */
  readonly hostAddresses?: () => readonly string[];
}

export interface OutboundRequest extends TlsIdentity {
  /** `https:`; a path and a query, no credentials. */
  readonly url: string | URL;
  /** Where to connect instead of the URL's host and port, such as an endpoint of the service that the URL names. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A function is called when the call begins: what waits for its turn holds no body. */
  readonly body?: string | Uint8Array | (() => string);
  /** For the whole answer. */
  readonly timeoutMs: number;
  readonly bytesMax?: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Conversions have a call limit of their own. A webhook that is being called may read custom resources through this server:
   * that read must not wait for the turns that such calls hold.
   */
  readonly isConversion?: boolean;
  /** Of all calls that are made for one request; what is taken is not given back. */
  readonly budget?: AnswerBudget | undefined;
  /** The administrator named the target, in a file of the server's: any address will do. */
  readonly isTrusted?: boolean;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const defaultBytesMax = 8 * 1024 * 1024;
/** Of answers that are being read. A tenant has room for the largest answers of as many webhooks as may be called at once. */
const processBytesMax = 256 * 1024 * 1024;
const tenantBytesMax = 96 * 1024 * 1024;
/** Of documents that are kept of aggregated servers. They have a budget of their own: no answer fails because of them. */
const processDocumentBytesMax = 128 * 1024 * 1024;
const tenantDocumentBytesMax = 32 * 1024 * 1024;
/** Calls of one client at the same time, and those that wait: of conversions, and of all others. */
const callsMax = 32;
const waitingMax = 2_000;
const idleMs = 90_000;
/** Connections to one place that wait for the next call. */
const idleMax = 32;

export class Outbound {
  /** Of answers that are held now. */
  readonly answers: AnswerBudget;
  /** Of documents that are kept of aggregated servers. */
  readonly documents: AnswerBudget;
  readonly #calls = new CallLimit(callsMax, waitingMax);
  readonly #conversions = new CallLimit(callsMax, waitingMax);
  readonly #options: OutboundOptions;
  readonly #clock: Clock;
  readonly #resolver: Resolver | undefined;
  readonly #policy: AddressPolicy;
  /** One for all tenants. */
  #tenantPolicy: AddressPolicy | undefined;
  /** Apart, so that a connection that the administrator's target was allowed is never a tenant's. */
  #agent: Agent | undefined;
  #trustedAgent: Agent | undefined;

  /** Throws when `allow` has what is no network. */
  constructor(
    options: OutboundOptions = {},
    policy = new AddressPolicy(options.allow),
    answers = new AnswerBudget(processBytesMax, 'this server'),
    documents = new AnswerBudget(processDocumentBytesMax, 'this server'),
  ) {
    this.answers = answers;
    this.documents = documents;
    const { clock = systemClock, resolver } = options;
    this.#options = options;
    this.#clock = clock;
    this.#resolver = resolver;
    this.#policy = policy;
  }

  /**
   * Returns the client for one tenant: the same rules, and no address of this machine. It shares no connection with any other
   * client, and is closed by the caller.
   */
  forTenant(): Outbound {
    const { allow, hostAddresses: read } = this.#options;
    const clock = this.#clock;
    this.#tenantPolicy ??= new AddressPolicy(allow, new HostAddresses({ clock, ...(read ? { read } : {}) }));
    const answers = new AnswerBudget(tenantBytesMax, 'this control plane', this.answers);
    const documents = new AnswerBudget(tenantDocumentBytesMax, 'this control plane', this.documents);
    return new Outbound(this.#options, this.#tenantPolicy, answers, documents);
  }

  /** Rejects with an OutboundError; any status is an answer. A call that waits for its turn uses up its own time. */
  async request(asked: OutboundRequest): Promise<OutboundAnswer> {
    const deadlineMs = this.#clock.monotonicMs() + asked.timeoutMs;
    // The administrator's targets do not wait for those of others.
    const limit = asked.isTrusted ? undefined : asked.isConversion ? this.#conversions : this.#calls;
    const turn = limit?.enter(this.#clock, asked.timeoutMs, asked.signal);
    if (turn) await turn;
    try {
      return await this.#send(asked, deadlineMs);
    } catch (error) {
      // The other side closed a connection that was kept, just as it was used again: it never saw this.
      if (error instanceof StaleConnection) return await this.#send(asked, deadlineMs);
      throw error;
    } finally {
      limit?.leave(this.#clock);
    }
  }

  /** A connection of one's own, for protocols that go both ways. The same policy; rejects with an OutboundError. */
  open(
    destination: Destination,
    options: { timeoutMs: number; isTrusted?: boolean; alpn?: readonly string[]; signal?: AbortSignal },
  ): Promise<TLSSocket> {
    const { timeoutMs, isTrusted = false, alpn, signal } = options;
    return openConnection(destination, {
      policy: this.#policyFor(isTrusted),
      clock: this.#clock,
      resolver: this.#resolver,
      timeoutMs,
      alpn,
      signal,
    });
  }

  /** Ends the connections that are kept. */
  close(): void {
    this.#agent?.destroy();
    this.#trustedAgent?.destroy();
  }

  #policyFor(isTrusted: boolean): AddressPolicy {
    return isTrusted ? AddressPolicy.unrestricted : this.#policy;
  }

  #agentFor(isTrusted: boolean): Agent {
    const make = (): Agent => new Agent({ keepAlive: true, maxFreeSockets: idleMax, timeout: idleMs });
    return isTrusted ? (this.#trustedAgent ??= make()) : (this.#agent ??= make());
  }

  #send(asked: OutboundRequest, deadlineMs: number): Promise<OutboundAnswer> {
    const { method = 'GET', signal, bytesMax = defaultBytesMax, isTrusted = false, budget } = asked;
    const body = typeof asked.body === 'function' ? asked.body() : asked.body;
    const url = httpsUrl(asked.url);
    const policy = this.#policyFor(isTrusted);
    const host = asked.address?.host ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = asked.address?.port ?? (Number(url.port) || 443);
    const serverName = asked.serverName ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
    checkLiteral(policy, host);
    if (signal?.aborted) throw new OutboundError('Aborted', 'context canceled');
    return new Promise((resolve, reject) => {
      const request = httpsRequest({
        ...tlsOptions({ ...asked, host, port, serverName }),
        host,
        port,
        method,
        path: `${url.pathname}${url.search}`,
        agent: this.#agentFor(isTrusted),
        lookup: guardedLookup(policy, this.#resolver),
        headers: {
          host: url.host,
          'user-agent': 'hangar',
          'content-length': String(body === undefined ? 0 : Buffer.byteLength(body)),
          ...asked.headers,
        },
      });
      let hasAnswer = false;
      const end = (settle: () => void): void => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const fail = (error: unknown): void => {
        const isStale = request.reusedSocket && !hasAnswer && isReset(error);
        end(() => reject(isStale ? new StaleConnection() : outboundError(error)));
        request.destroy();
      };
      const onAbort = (): void => fail(new OutboundError('Aborted', 'context canceled'));
      const leftMs = Math.max(0, deadlineMs - this.#clock.monotonicMs());
      const timer = this.#clock.after(leftMs, () => fail(new OutboundError('Timeout', 'context deadline exceeded')));
      signal?.addEventListener('abort', onAbort, { once: true });
      request.on('error', fail);
      request.on('response', (response) => {
        hasAnswer = true;
        collect(response, bytesMax, [this.answers, budget]).then((answer) => end(() => resolve(answer)), fail);
      });
      request.end(body);
    });
  }
}

/** A kept connection that was closed before anything came back. */
class StaleConnection extends Error {}

const isReset = (error: unknown): boolean => ['ECONNRESET', 'EPIPE'].includes((error as { code?: string }).code ?? '');

function httpsUrl(text: string | URL): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw new OutboundError('Unreachable', `"${String(text)}" is not a valid URL`, { cause: error });
  }
  if (url.protocol !== 'https:') throw new OutboundError('Refused', `unsupported protocol scheme "${url.protocol}"`);
  return url;
}

async function collect(
  response: IncomingMessage,
  bytesMax: number,
  [held, ofRequest]: readonly [AnswerBudget, AnswerBudget | undefined],
): Promise<OutboundAnswer> {
  const tooLarge = (): OutboundError => new OutboundError('TooLarge', `the response is larger than ${bytesMax} bytes`);
  if (Number(response.headers['content-length']) > bytesMax) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (bytes + chunk.length > bytesMax) throw tooLarge();
      ofRequest?.take(chunk.length);
      held.take(chunk.length);
      bytes += chunk.length;
      chunks.push(chunk);
    }
    return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) };
  } finally {
    // The caller reads the answer in this turn of the event loop, and accounts for the parts that it keeps.
    held.give(bytes);
  }
}
