/**
 * The client for all outgoing calls of the server: webhooks, issuers, other API servers. HTTPS over HTTP/1.1 with connection reuse. Each
 * call has a limit of time and size. Redirects are returned, never followed, and responses are never compressed.
 */

import { lookup as systemLookup } from 'node:dns';
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { lazy, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { AddressPolicy } from './address-policy.ts';
import type { AddressRule } from './address-policy.ts';
import { AnswerBudget } from './answer-budget.ts';
import { CallLimit } from './call-limit.ts';
import { clusterAgent } from './cluster-network.ts';
import type { ClusterDialer } from './cluster-network.ts';
import {
  allowedAddress,
  checkLiteral,
  guardedLookup,
  openConnection,
  openTcp,
  openTls,
  tlsOptions,
} from './connector.ts';
import type { ConnectOptions, Destination, DirectTlsOptions, Resolver, TlsIdentity } from './connector.ts';
import { OutboundError, outboundError } from './errors.ts';
import { HostAddresses } from './host-addresses.ts';
import type { NameLookups } from './name-lookups.ts';

export interface OutboundOptions {
  /** Networks that targets of tenants may be in although they are loopback or link-local: `127.0.0.0/8`. */
  readonly allow?: readonly string[];
  readonly clock?: Clock;
  /** Resolves names to addresses; absent: the resolver of the system. */
  readonly resolver?: Resolver;
  /** Opens the connections of this server into cluster networks; configured by the administrator. Absent: direct connections. */
  readonly egress?: ClusterDialer | undefined;
  /** Opens connections to Services of the control plane. Absent: `egress`. */
  readonly cluster?: () => ClusterDialer | undefined;
  /** Endpoints of this process that every control plane may connect to: `host:port`. Shared with the clients of tenants. */
  readonly ownEndpoints?: Set<string>;
  /** Addresses of this machine, which tenants cannot reach unless `allow` has them; absent: the list of the operating system. */
  readonly hostAddresses?: () => readonly string[];
}

export interface OutboundRequest extends TlsIdentity {
  /** `https:`; a path and a query, no credentials. */
  readonly url: string | URL;
  /** Address to connect to instead of the URL's host and port, such as an endpoint of the service that the URL names. */
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A function is called when the call starts, so that queued calls hold no body. */
  readonly body?: string | Uint8Array | (() => string);
  /** Timeout for the complete response. */
  readonly timeoutMs: number;
  readonly bytesMax?: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Conversions have a separate call limit. A webhook that is being called may read custom resources through this server: that read must
   * not wait for slots that such calls hold.
   */
  readonly isConversion?: boolean;
  /** Shared by all calls of one request; bytes are not returned to it. */
  readonly budget?: AnswerBudget | undefined;
  /** The administrator configured the target in a file of the server: any address is allowed. */
  readonly isTrusted?: boolean;
  /** The address is one of a Service: it is in the network of the cluster. */
  readonly isService?: boolean;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Of a connection into the network of a control plane's nodes. */
export interface NodeConnectOptions {
  /** Applies in addition to the policy. */
  readonly rule: AddressRule;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Limits the lookup of a name. */
  readonly lookups: NameLookups;
}

const defaultBytesMax = 8 * 1024 * 1024;
/** Limit of responses that are being read. A tenant has room for the largest responses of as many webhooks as may be called at once. */
const processBytesMax = 256 * 1024 * 1024;
const tenantBytesMax = 96 * 1024 * 1024;
/** Limit of kept documents of aggregated servers. Separate, so that no response fails because of them. */
const processDocumentBytesMax = 128 * 1024 * 1024;
const tenantDocumentBytesMax = 32 * 1024 * 1024;
/** Concurrent and queued calls of one client: for conversions, and for all others. */
const callsMax = 32;
const waitingMax = 2_000;
const idleMs = 90_000;
/** Idle connections per destination. */
const idleMax = 32;

const agentOptions = { keepAlive: true, maxFreeSockets: idleMax, timeout: idleMs };

export class Outbound {
  /** Budget for responses being held. */
  readonly answers: AnswerBudget;
  /** Budget for kept documents of aggregated servers. */
  readonly documents: AnswerBudget;
  readonly #calls = new CallLimit(callsMax, waitingMax);
  readonly #conversions = new CallLimit(callsMax, waitingMax);
  readonly #options: OutboundOptions;
  readonly #clock: Clock;
  readonly #resolver: Resolver | undefined;
  readonly #policy: AddressPolicy;
  /** Shared by all tenants. */
  #tenantPolicy: AddressPolicy | undefined;
  /** Separate, so that tenants never reuse a connection to a target of the administrator. */
  #agent: Agent | undefined;
  #trustedAgent: Agent | undefined;
  #clusterAgent: Agent | undefined;
  /** Addresses of this machine are not special in another network. */
  readonly #clusterPolicy: () => AddressPolicy;
  readonly #cluster: () => ClusterDialer | undefined;

  /** Throws if an entry of `allow` is not a network. */
  constructor(
    options: OutboundOptions = {},
    policy = new AddressPolicy(options.allow),
    answers = new AnswerBudget(processBytesMax, 'this server'),
    documents = new AnswerBudget(processDocumentBytesMax, 'this server'),
  ) {
    this.answers = answers;
    this.documents = documents;
    const { clock = systemClock, resolver } = options;
    this.#options = { ...options, ownEndpoints: options.ownEndpoints ?? new Set() };
    this.#clock = clock;
    this.#resolver = resolver;
    this.#policy = policy;
    this.#clusterPolicy = lazy(() => new AddressPolicy(options.allow));
    this.#cluster = options.cluster ?? (() => options.egress);
  }

  /**
   * Returns a client for one tenant: the same rules, and no address of this machine. It shares no connection with any other client, and is
   * closed by the caller. `cluster` opens connections to Services of the tenant: the administrator's proxy is not for tenants, which choose
   * the addresses of their Services.
   */
  forTenant(cluster: () => ClusterDialer | undefined = () => undefined): Outbound {
    const { allow, hostAddresses: read } = this.#options;
    const clock = this.#clock;
    this.#tenantPolicy ??= new AddressPolicy(allow, new HostAddresses({ clock, ...(read ? { read } : {}) }));
    const answers = new AnswerBudget(tenantBytesMax, 'this control plane', this.answers);
    const documents = new AnswerBudget(tenantDocumentBytesMax, 'this control plane', this.documents);
    return new Outbound({ ...this.#options, cluster }, this.#tenantPolicy, answers, documents);
  }

  /**
   * Allows connections of all control planes to an endpoint of this process, which authenticates its clients: an aggregated API server of
   * the platform. Returns a function that ends it.
   */
  allowOwnEndpoint(host: string, port: number): () => void {
    const own = this.#options.ownEndpoints!;
    own.add(`${host}:${port}`);
    return () => void own.delete(`${host}:${port}`);
  }

  /** Rejects with an OutboundError; any status is a response. Queueing counts toward the timeout. */
  async request(asked: OutboundRequest): Promise<OutboundAnswer> {
    const deadlineMs = this.#clock.monotonicMs() + asked.timeoutMs;
    // Targets of the administrator do not queue behind others.
    const limit = asked.isTrusted ? undefined : asked.isConversion ? this.#conversions : this.#calls;
    const turn = limit?.enter(this.#clock, asked.timeoutMs, asked.signal);
    if (turn) await turn;
    try {
      return await this.#send(asked, deadlineMs);
    } catch (error) {
      // The peer closed a kept connection just as it was reused: it never saw this request.
      if (error instanceof StaleConnection) return await this.#send(asked, deadlineMs);
      throw error;
    } finally {
      limit?.leave(this.#clock);
    }
  }

  /** Opens a dedicated connection, for bidirectional protocols. Same policy; rejects with an OutboundError. */
  open(
    destination: Destination,
    options: {
      timeoutMs: number;
      isTrusted?: boolean;
      isService?: boolean;
      alpn?: readonly string[];
      signal?: AbortSignal;
    },
  ): Promise<TLSSocket> {
    const { timeoutMs, alpn, signal } = options;
    const isOwn = this.#options.ownEndpoints!.has(`${destination.host}:${destination.port}`);
    const isTrusted = isOwn || (options.isTrusted ?? false);
    const dialer = isOwn ? undefined : this.#dialerOf(destination.host, options.isService);
    return openConnection(destination, {
      policy: dialer ? this.#clusterPolicy() : this.#policyFor(isTrusted),
      dialer,
      clock: this.#clock,
      resolver: this.#resolver,
      timeoutMs,
      alpn,
      signal,
    });
  }

  /**
   * Opens a dedicated TCP connection to an address that the policy and `rule` allow; a name must resolve to such an address. Uses `egress`,
   * if there is one. Rejects with an OutboundError.
   */
  async openTcp(target: Pick<Destination, 'host' | 'port'>, options: NodeConnectOptions): Promise<Duplex> {
    const checked = this.#checked(options);
    const { egress } = this.#options;
    if (egress) {
      // The proxy must connect to the address that was checked.
      const host = await allowedAddress(target.host, checked.policy, checked.resolver);
      return egress.dial({ host, port: target.port, signal: options.signal });
    }
    return openTcp(target, checked);
  }

  /**
   * Opens a TCP connection as `openTcp` does and starts TLS, in one socket. Resolves before the handshake. Undefined: `egress` has to open
   * the connection.
   */
  openTls(
    target: Pick<Destination, 'host' | 'port'>,
    tls: DirectTlsOptions,
    options: NodeConnectOptions,
  ): Promise<TLSSocket> | undefined {
    return this.#options.egress ? undefined : openTls(target, tls, this.#checked(options));
  }

  #checked({ rule, lookups, timeoutMs, signal }: NodeConnectOptions): ConnectOptions & { readonly resolver: Resolver } {
    const policy: AddressRule = { refusal: (address) => this.#policy.refusal(address) ?? rule.refusal(address) };
    const resolver = lookups.limited(this.#resolver ?? systemLookup);
    return { policy, clock: this.#clock, resolver, timeoutMs, signal };
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent?.destroy();
    this.#trustedAgent?.destroy();
    this.#clusterAgent?.destroy();
  }

  /** Returns undefined for direct connections. The external name of a Service is not in the network of the cluster. */
  #dialerOf(host: string, isService = false): ClusterDialer | undefined {
    return isService && isIP(host) !== 0 ? this.#cluster() : undefined;
  }

  #policyFor(isTrusted: boolean): AddressPolicy {
    return isTrusted ? AddressPolicy.unrestricted : this.#policy;
  }

  #agentFor(isTrusted: boolean): Agent {
    const make = (): Agent => new Agent(agentOptions);
    return isTrusted ? (this.#trustedAgent ??= make()) : (this.#agent ??= make());
  }

  #agentOfCluster(): Agent {
    return (this.#clusterAgent ??= clusterAgent(this.#cluster, agentOptions));
  }

  #send(asked: OutboundRequest, deadlineMs: number): Promise<OutboundAnswer> {
    const { method = 'GET', signal, bytesMax = defaultBytesMax, isTrusted = false, budget } = asked;
    const body = typeof asked.body === 'function' ? asked.body() : asked.body;
    const url = httpsUrl(asked.url);
    const host = asked.address?.host ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = asked.address?.port ?? (Number(url.port) || 443);
    const serverName = asked.serverName ?? url.hostname.replace(/^\[(.*)\]$/, '$1');
    const dialer = this.#dialerOf(host, asked.isService);
    const policy = dialer ? this.#clusterPolicy() : this.#policyFor(isTrusted);
    checkLiteral(policy, host);
    if (signal?.aborted) throw new OutboundError('Aborted', 'context canceled');
    return new Promise((resolve, reject) => {
      const request = httpsRequest({
        ...tlsOptions({ ...asked, host, port, serverName }),
        host,
        port,
        method,
        path: `${url.pathname}${url.search}`,
        agent: dialer ? this.#agentOfCluster() : this.#agentFor(isTrusted),
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

/** A kept connection that was closed before any response. */
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
    // The caller reads the response in this turn of the event loop, and accounts for the parts that it keeps.
    held.give(bytes);
  }
}
