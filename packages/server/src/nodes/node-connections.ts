/**
 * Connections to kubelets, pods and services of one control plane: HTTP/1.1 over TLS or TCP. Connections are reused only for the same
 * backend with the same verification. An upgraded connection is never shared.
 */

import type { ClientRequest, OutgoingHttpHeaders } from 'node:http';
import { isIP, Socket } from 'node:net';
import type { OnReadOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions, SecureContext, TLSSocket } from 'node:tls';
import { asError } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import { secured } from '../outbound/cluster-network.ts';
import { DirectConnection, recordBytesMax } from '../outbound/direct-connection.ts';
import { OutboundError, outboundError } from '../outbound/errors.ts';
import { addressOf } from './dialer.ts';
import type { DialTarget, NodeDialer } from './dialer.ts';
import { TlsSessions } from './tls-sessions.ts';

/** Loaded with the first connection, not at startup. */
const http = () => process.getBuiltinModule('node:http');

/** Credentials by which the server and the kubelets of a control plane authenticate each other. Everything is PEM. */
export interface NodeCredentials {
  /** CA of the serving certificates of kubelets. */
  readonly ca: string;
  readonly clientCertificate: KeyPair;
}

export interface Backend {
  readonly scheme: 'http' | 'https';
  /** An IP address or a name, without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * `kubelet`: this server presents its client certificate and verifies the serving certificate. `unverified-kubelet`: it only presents its
   * certificate. `workload`: neither, as kube-apiserver does for pods and services.
   */
  readonly peer: 'kubelet' | 'unverified-kubelet' | 'workload';
  /** SHA-256 of the kubelet's serving certificate, in lower-case hexadecimal. Absent: verified by the CA. */
  readonly pin?: string | undefined;
}

type DirectUse = 'upgrade' | 'body';

export interface BackendRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  /** Uses a dedicated connection that is not reused. */
  readonly isAlone?: boolean;
  /** The caller can use a DirectConnection, after an upgrade or as the body of the response. It is dedicated, too. */
  readonly direct?: DirectUse | undefined;
  /** Aborts a connection that is being opened. */
  readonly signal?: AbortSignal;
}

export interface NodeConnectionsOptions {
  readonly dialer: NodeDialer;
  /** Returns the same object until the credentials change. Undefined: this control plane has no nodes. */
  readonly credentials: () => NodeCredentials | undefined;
  readonly clock: Clock;
}

/** This server as a client of kubelets, until its credentials change. */
interface Client {
  readonly credentials: NodeCredentials;
  readonly context: SecureContext;
  /** Of kubelets that the CA or the fingerprint verified. */
  readonly sessions: TlsSessions;
}

const handshakeTimeoutMs = 10_000;
const idleMs = 90_000;
/** Idle connections per backend. */
const idleMax = 8;
/** Idle connections of a control plane: its users choose the number of backends. */
const idleTotalMax = 32;

/** How a kubelet's serving certificate can be trusted, for errors. */
const ways =
  'the kubelet needs a serving certificate of the CA of this control plane (serverTLSBootstrap: true), ' +
  'or its Node the annotation hangar.dev/kubelet-certificate-sha256';

export class NodeConnections {
  readonly #options: NodeConnectionsOptions;
  #agents: { readonly shared: Agent; readonly alone: Agent } | undefined;
  #client: Client | undefined;
  /** Direct connections read into it. */
  #record: Buffer | undefined;

  constructor(options: NodeConnectionsOptions) {
    this.#options = options;
  }

  /** Starts a request; the caller writes its body. Connection errors are emitted by the request as OutboundErrors. */
  begin(backend: Backend, request: BackendRequest): ClientRequest {
    const { method, target, headers, isAlone, direct, signal } = request;
    this.#agents ??= this.#newAgents();
    const { shared, alone } = this.#agents;
    const agent = isAlone || direct ? alone : shared;
    const options = { agent, method, path: target, headers, backend, direct, opening: signal };
    return http().request({ ...options, host: backend.host, port: backend.port, setHost: false });
  }

  /** Opens a dedicated connection. Rejects with an OutboundError. */
  async open(
    backend: Backend,
    { signal, use }: { signal?: AbortSignal | undefined; use?: DirectUse | undefined } = {},
  ): Promise<Duplex> {
    const { dialer, credentials } = this.#options;
    const target = { host: backend.host, port: backend.port, signal };
    const isWorkload = backend.peer === 'workload';
    if (use && backend.scheme === 'https' && (isWorkload || credentials())) {
      const client = isWorkload ? undefined : this.#currentClient();
      const direct = await this.#openDirect(target, backend, { client, use });
      if (direct) return direct;
    }
    const raw = await dialer.dial(target);
    if (backend.scheme !== 'https') return raw;
    try {
      const client = isWorkload ? undefined : this.#currentClient();
      return await this.#verified(secured(raw, tlsOptions(backend, client)), backend, { client, signal });
    } catch (error) {
      raw.destroy();
      throw error;
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#agents?.shared.destroy();
    this.#agents?.alone.destroy();
  }

  #newAgents(): { shared: Agent; alone: Agent } {
    const { Agent } = http();
    const shared = new Agent({ keepAlive: true, maxFreeSockets: idleMax, timeout: idleMs });
    const alone = new Agent({ keepAlive: false });
    // Agents of node:http open plain connections. These are replaced by connections of the dialer.
    for (const agent of [shared, alone] as ConnectingAgent[]) {
      agent.createConnection = (options, done) => void this.#connect(options, done);
      agent.getName = ({ backend: { scheme, host, port, peer, pin = '' } }) =>
        `${scheme} ${host} ${port} ${peer} ${pin}`;
    }
    const keep = shared.keepSocketAlive.bind(shared);
    // Connections through a tunnel have no methods of sockets.
    shared.keepSocketAlive = (socket) => socket instanceof Socket && idleIn(shared) < idleTotalMax && keep(socket);
    return { shared, alone };
  }

  async #connect({ backend, direct: use, opening: signal }: OpeningOptions, done: Done): Promise<void> {
    try {
      done(null, await this.open(backend, { use, signal }));
    } catch (error) {
      done(asError(error));
    }
  }

  /** Returns undefined if the dialer cannot open the connection from this process. */
  #openDirect(
    target: DialTarget,
    backend: Backend,
    { client, use }: { client: Client | undefined; use: DirectUse },
  ): Promise<DirectConnection | undefined> {
    const { dialer } = this.#options;
    const connect = (onread: OnReadOpts): Promise<TLSSocket> | undefined => {
      const dialed = dialer.dialTls?.(target, { ...tlsOptions(backend, client), onread });
      return dialed?.then((socket) => this.#verified(socket, backend, { client, signal: target.signal }));
    };
    this.#record ??= Buffer.allocUnsafeSlow(recordBytesMax);
    return DirectConnection.open(connect, { record: this.#record, holdsBody: use === 'body' });
  }

  /** Waits for the handshake, and compares the certificate with the pin. */
  #verified(
    socket: TLSSocket,
    backend: Backend,
    { client, signal }: { client: Client | undefined; signal: AbortSignal | undefined },
  ): Promise<TLSSocket> {
    const { peer, pin } = backend;
    const sessions = peer === 'kubelet' ? client?.sessions : undefined;
    return new Promise((resolve, reject) => {
      const release = (): void => {
        timer.cancel();
        signal?.removeEventListener('abort', onAbort);
        socket.off('error', fail);
      };
      const fail = (error: unknown): void => {
        release();
        socket.on('error', () => {}).destroy();
        reject(isVerified(backend) ? explained(outboundError(error)) : outboundError(error));
      };
      const timer = this.#options.clock.after(handshakeTimeoutMs, () =>
        fail(new OutboundError('Timeout', 'net/http: TLS handshake timeout')),
      );
      const onAbort = (): void => fail(new OutboundError('Aborted', 'context canceled'));
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) return onAbort();
      socket.once('error', fail);
      socket.once('secureConnect', () => {
        const isResumed = socket.isSessionReused();
        // A resumed session has no certificate. It began with the one that the pin is for, because the pin is a part of its key.
        const wrong = peer === 'kubelet' && pin !== undefined && !isResumed ? pinMismatch(socket, pin) : undefined;
        if (wrong) return fail(wrong);
        // Not before: the session of a kubelet with a wrong certificate must not be resumed.
        if (sessions) socket.on('session', (ticket: Buffer) => sessions.add(sessionKey(backend), ticket, isResumed));
        release();
        resolve(socket);
      });
    });
  }

  #currentClient(): Client {
    const credentials = this.#options.credentials();
    if (!credentials) throw new OutboundError('Refused', 'this control plane has no credentials for kubelets');
    if (this.#client?.credentials !== credentials) {
      const { ca, clientCertificate } = credentials;
      const context = createSecureContext({
        ca,
        cert: clientCertificate.certificate,
        key: clientCertificate.key,
        minVersion: 'TLSv1.2',
      });
      this.#client = { credentials, context, sessions: new TlsSessions(this.#options.clock) };
    }
    return this.#client;
  }
}

/** Whether the CA verifies the serving certificate. */
const isVerified = ({ peer, pin }: Backend): boolean => peer === 'kubelet' && pin === undefined;

const sessionKey = (backend: Backend): string =>
  backend.pin === undefined ? addressOf(backend) : `${addressOf(backend)} ${backend.pin}`;

function tlsOptions(backend: Backend, client: Client | undefined): ConnectionOptions {
  const { host, peer } = backend;
  const session = peer === 'kubelet' ? client?.sessions.ticket(sessionKey(backend)) : undefined;
  return {
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(client ? { secureContext: client.context } : {}),
    ...(session ? { session } : {}),
    rejectUnauthorized: isVerified(backend),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
  };
}

const idleIn = ({ freeSockets }: Agent): number =>
  Object.values(freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);

function pinMismatch(socket: TLSSocket, pin: string): OutboundError | undefined {
  const found = socket.getPeerCertificate().fingerprint256?.replaceAll(':', '').toLowerCase() ?? '';
  if (found === pin) return undefined;
  const why = `the SHA-256 of the certificate is ${found}, but the annotation hangar.dev/kubelet-certificate-sha256 has ${pin}`;
  return new OutboundError('Unreachable', `tls: failed to verify certificate: x509: ${why}`);
}

const explained = (error: OutboundError): OutboundError =>
  error.message.startsWith('tls: failed to verify certificate')
    ? new OutboundError(error.code, `${error.message}: ${ways}`, { cause: error })
    : error;

type Agent = InstanceType<ReturnType<typeof http>['Agent']>;

type Done = (error: Error | null, socket?: Duplex) => void;

/** Passed by `begin`. */
interface OpeningOptions {
  readonly backend: Backend;
  readonly direct?: DirectUse;
  /** Aborts the opening. */
  readonly opening?: AbortSignal;
}

/** The overridable parts of an agent. */
interface ConnectingAgent {
  createConnection: (options: OpeningOptions, done: Done) => void;
  getName: (options: OpeningOptions) => string;
}
