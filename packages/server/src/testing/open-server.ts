/** An API server on a given store: the base of all in-process servers. */

import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { Store } from '@hangar/store';
import type { PluginChoice } from '../admission/plugin-choice.ts';
import type { Auditor } from '../audit/auditor.ts';
import { privilegedGroup } from '../auth/authorize.ts';
import type { Authorizer } from '../auth/authorize.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { HealthChecks } from '../documents/health.ts';
import type { Fairness } from '../fairness/fairness.ts';
import type { Peer, ServerRequest } from '../http/message.ts';
import type { NodeOptions } from '../nodes/node-access.ts';
import { CacheBudget } from '../objects/cache-budget.ts';
import { openControlPlane } from '../open-control-plane.ts';
import type { Outbound } from '../outbound/index.ts';
import { ApiServer } from '../server.ts';
import type { ApiServerOptions } from '../server.ts';
import { testAuthentication } from './authentication.ts';
import type { TestAuthentication } from './authentication.ts';

export interface PlaneOptions {
  /** Absent: all except `ServiceAccount`, because no controller creates accounts here; the real server of tests has none either. */
  readonly admission?: PluginChoice;
  /** Absent: the system clock. */
  readonly clock?: Clock;
  readonly random?: Random;
  readonly cacheBytesMax?: number;
  /** Absent: a client that cannot reach loopback. Closed by its creator. */
  readonly outbound?: Outbound;
  /** Absent: the server does not connect to nodes. */
  readonly nodes?: NodeOptions;
}

export interface ServerOptions extends PlaneOptions, TestAuthentication {
  readonly auditor?: Auditor;
  /** Replaces the authentication of test servers. */
  readonly authentication?: (plane: ControlPlane) => Partial<Pick<ApiServerOptions, 'authenticators' | 'anonymous'>>;
  /** Absent: administrators may do everything, all others nothing. */
  readonly authorizers?: readonly Authorizer[] | ((plane: ControlPlane) => readonly Authorizer[]);
  readonly health?: HealthChecks;
  readonly admits?: ApiServerOptions['admits'];
  readonly strangerRefusal?: ApiServerOptions['strangerRefusal'];
  /** Absent: no queueing. */
  readonly fairness?: (plane: ControlPlane) => Fairness;
}

export interface OpenServer {
  readonly plane: ControlPlane;
  readonly server: ApiServer;
  /** Internal errors of the server; no test expects any. */
  readonly problems: Error[];
  /** Leaves the store open. */
  close(): void;
}

export const openTestPlane = (store: Store, options: PlaneOptions = {}): ReturnType<typeof openControlPlane> =>
  openControlPlane({
    name: 'root',
    prefix: '/registry',
    store,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    admission: options.admission ?? { disabled: ['ServiceAccount'] },
    bootstrap: {
      serviceAddress: '10.0.0.1',
      serviceCidr: '10.0.0.0/24',
      endpoint: { address: '127.0.0.1', port: 6443 },
    },
    ...(options.cacheBytesMax === undefined ? {} : { cacheBudget: new CacheBudget(options.cacheBytesMax) }),
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    ...(options.nodes === undefined ? {} : { nodes: options.nodes }),
  });

export async function openServer(store: Store, options: ServerOptions = {}): Promise<OpenServer> {
  const { plane, close } = await openTestPlane(store, options);
  const { authorizers = [privilegedGroup], auditor } = options;
  const problems: Error[] = [];
  const server = new ApiServer({
    plane,
    ...testAuthentication(plane, options),
    ...options.authentication?.(plane),
    authorizers: typeof authorizers === 'function' ? authorizers(plane) : authorizers,
    ...(auditor && { auditor }),
    ...(options.admits && { admits: options.admits }),
    ...(options.strangerRefusal && { strangerRefusal: options.strangerRefusal }),
    ...(options.fairness && { fairness: options.fairness(plane) }),
    health: options.health ?? { livez: [], readyz: [] },
    address: () => '127.0.0.1:6443',
    onError: (error) => problems.push(error),
  });
  return { plane, server, problems, close };
}

export interface RequestParts {
  readonly method: string;
  readonly target: string;
  /** Keyed by lower-case name. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: Uint8Array;
  readonly peer?: Peer;
}

const nowhere: Peer = { address: '127.0.0.1', certificate: undefined };

/** Builds a request as a listener would. */
export const serverRequest = ({ method, target, headers, body, peer = nowhere }: RequestParts): ServerRequest => ({
  method,
  target,
  peer,
  header: (name) => headers.get(name)?.join(', '),
  headerValues: (name) => headers.get(name) ?? [],
  headerNames: () => [...headers.keys()],
  body: () => Promise.resolve(body),
});
