/**
 * An aggregated API server: declared kinds behind TLS; the cluster authenticates and authorizes requests.
 *
 *   const server = await serveAggregated({ kinds: [notes], access: await clusterAccess(undefined), … });
 *
 * The cluster's API server reaches it through an APIService (see `registration`), and clients through that.
 */

import { internalError, StatusError } from '@hangar/api';
import { asError, CleanupStack, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import type { AdmissionPlugin } from '../admission/admission.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { privilegedGroup } from '../auth/authorize.ts';
import type { Authorizer } from '../auth/authorize.ts';
import type { User } from '../auth/user.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { HealthCheck } from '../documents/health.ts';
import { listen } from '../http/listener.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { errorAnswer } from '../objects/answers.ts';
import { ApiServer } from '../server.ts';
import type { ApiServerOptions } from '../server.ts';
import type { ClusterAccess } from '../outbound/cluster-access.ts';
import { ClusterClient } from './cluster-client.ts';
import { DelegatedCertificates, TokenReviews } from './delegated-authentication.ts';
import { AccessReviews } from './delegated-authorization.ts';
import type { Kind } from './kind.ts';
import { libraryPlane } from './plane.ts';
import type { Awaitable } from './storage.ts';

/** Options of `serveAggregated`. */
export interface AggregatedServerOptions {
  readonly kinds: readonly Kind[];
  /** The cluster that authenticates and authorizes the requests. */
  readonly access: ClusterAccess;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Host names of the server in the cluster, such as `notes.default.svc`, for the generated serving certificate. */
  readonly hosts?: readonly string[];
  readonly certificate?: KeyPair;
  /** Store of kinds without a custom storage; absent: in memory. The caller closes it. */
  readonly store?: Store;
  /** Prefix of all keys in the store. */
  readonly prefix?: string;
  readonly admission?: readonly AdmissionPlugin[];
  /** Audits requests by its policy; absent: no audit. */
  readonly auditor?: Auditor;
  /**
   * Selects the view that handles a request, for servers whose content depends on the client; undefined: `kinds`. `open` creates a view,
   * to be kept and used again.
   */
  readonly select?: (request: ServerRequest, world: SelectWorld) => Awaitable<AggregatedView | undefined>;
  /** Handles requests outside of the API; undefined: the API server handles the request. */
  readonly route?: (request: ServerRequest) => Promise<Answer> | undefined;
  /** Additional readiness checks. */
  readonly readiness?: readonly HealthCheck[];
  readonly clock?: Clock;
  readonly random?: Random;
  readonly onError?: (error: Error) => void;
}

/** Kinds with the clients that may use them. */
export interface ViewOptions {
  readonly kinds: readonly Kind[];
  /** Absent: by the cluster. */
  readonly authenticators?: readonly Authenticator[];
  /** Absent: by the cluster. */
  readonly authorizers?: readonly Authorizer[];
}

/** A part of a server with its own kinds. */
export interface AggregatedView {
  handle(request: ServerRequest): Promise<Answer>;
  close(): void;
}

export interface SelectWorld {
  open(options: ViewOptions): AggregatedView;
  /** Returns the user that the front proxy of the cluster names; undefined if the request does not come from it. */
  proxiedUserOf(request: ServerRequest): User | undefined;
}

/** A running aggregated API server. */
export interface AggregatedServer {
  readonly port: number;
  /** Certificate authority of the generated serving certificate, in PEM, for the APIService; undefined when a certificate was given. */
  readonly ca: string | undefined;
  /** Closes watches, waits for running requests and releases all resources. */
  close(): Promise<void>;
}

const certificateDays = 365;

/** Starts the server. Rejects, and releases everything, when the authentication configuration of the cluster cannot be read. */
export async function serveAggregated(options: AggregatedServerOptions): Promise<AggregatedServer> {
  const { clock = systemClock, random = systemRandom, onError = (error) => console.error(error) } = options;
  await using opened = new CleanupStack();
  const client = new ClusterClient(options.access, clock);
  opened.defer(() => client.close());
  const store = options.store ?? (await openMemoryStore({ clock }));
  if (!options.store) opened.defer(() => store.close());
  const { prefix = '/registry', kinds, admission } = options;
  const plane = libraryPlane({ kinds, store, prefix, clock, random, ...(admission ? { admission } : {}) });
  opened.defer(() => plane.collections.close());
  let authorities = '';
  let onAuthorities = (pem: string): void => void (authorities = pem);
  const certificates = new DelegatedCertificates({
    client,
    clock,
    onError,
    onAuthorities: (pem) => onAuthorities(pem),
  });
  await certificates.start();
  opened.defer(() => certificates.close());
  const state = { address: '', isClosing: false };
  const byCluster = {
    authenticators: [certificates, new TokenReviews(client)],
    authorizers: [privilegedGroup, new AccessReviews(client, clock)],
  };
  const serverOf = (served: ControlPlane, access: Pick<ApiServerOptions, 'authenticators' | 'authorizers'>) =>
    new ApiServer({
      plane: served,
      ...access,
      // The cluster issues the tokens and checks their audiences.
      audiences: [],
      health: { livez: [ping], readyz: [ping, shutdown(state), ...(options.readiness ?? [])] },
      ...(options.auditor ? { auditor: options.auditor } : {}),
      address: () => state.address,
      onError,
    });
  const server = serverOf(plane, byCluster);
  const selectWorld: SelectWorld = {
    proxiedUserOf: (request) => certificates.proxied(request),
    open({ kinds: own, ...access }) {
      const view = libraryPlane({ kinds: own, store, prefix, clock, random, ...(admission ? { admission } : {}) });
      const handler = serverOf(view, { ...byCluster, ...access });
      return { handle: (request) => handler.handle(request), close: () => view.collections.close() };
    },
  };
  const { route, select } = options;
  const handle = async (request: ServerRequest): Promise<Answer> => {
    try {
      const view = await select?.(request, selectWorld);
      return await (view ?? server).handle(request);
    } catch (error) {
      return errorAnswer(
        error instanceof StatusError ? error : internalError(asError(error)),
        request.header('accept'),
        [],
      );
    }
  };
  const { pair, ca } = options.certificate
    ? { pair: options.certificate, ca: undefined }
    : selfMade(options, clock, random);
  const listener = await listen({
    host: options.host,
    port: options.port,
    key: pair.key,
    certificate: pair.certificate,
    clientCas: authorities,
    clock,
    handler: (request) => route?.(request) ?? handle(request),
    onError,
  });
  opened.defer(() => listener.close());
  opened.defer(() => void (state.isClosing = true));
  onAuthorities = (clientCas) => listener.reload({ clientCas });
  state.address = `${options.host}:${listener.port}`;
  const running = opened.move();
  return { port: listener.port, ca, close: () => running.run() };
}

/** A CA for this one certificate: trusting it means trusting only this server. */
function selfMade({ hosts = [], host }: AggregatedServerOptions, clock: Clock, random: Random) {
  const world = { clock, random };
  const authority = createAuthority('aggregated-api-server', certificateDays, world);
  const names = [...new Set(['localhost', host, ...hosts])];
  const request = { commonName: names.at(-1)!, usage: 'server', hosts: names, days: certificateDays } as const;
  return { pair: issueCertificate(authority, request, world), ca: authority.certificate };
}

const ping: HealthCheck = { name: 'ping', check: () => undefined };

const shutdown = (state: { readonly isClosing: boolean }): HealthCheck => ({
  name: 'shutdown',
  check: () => (state.isClosing ? 'stopping' : undefined),
});
