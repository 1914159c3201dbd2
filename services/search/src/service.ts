/**
 * Composes the search service: the index and its feed, and the aggregated API server.
 *
 *     fleet     one Hangar: all control planes and the management plane
 *     cluster   one Kubernetes cluster
 *
 * In a fleet, the certificate of the connection proves which control plane sent a request: see `PlaneProofs`. A request of a control plane
 * searches only there, and its RBAC decides. All other requests come from the management plane.
 */

import { connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { CleanupStack, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { pathClient } from '@hangar/runtime/clusters';
import { FrontProxyAuthenticator, frontProxyHeaders, PlaneProofs, serveAggregated } from '@hangar/server/library';
import type { AggregatedServerOptions, AggregatedView, Authorizer, ClusterAccess, Kind } from '@hangar/server/library';
import { searchKind } from './api/search.ts';
import { accessReviews } from './authorization/reviews.ts';
import { rootCluster } from './authorization/scope.ts';
import type { Scope } from './authorization/scope.ts';
import { configOf } from './cluster-config.ts';
import { FrontProxies } from './front-proxies.ts';
import { SearchIndex } from './index-store/search-index.ts';
import { Searcher } from './search.ts';

export interface SearchServiceOptions extends Pick<
  AggregatedServerOptions,
  'host' | 'port' | 'hosts' | 'certificate' | 'onError'
> {
  /** The management plane, with the rights of system:masters, or the cluster. */
  readonly access: ClusterAccess;
  /** Absent: `access` is the management plane of a Hangar. Otherwise the name of the only cluster in results. */
  readonly cluster?: string | undefined;
  /** Directory of the index. It can be deleted at any time. */
  readonly directory: string;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface SearchService {
  readonly port: number;
  /** Certificate authority of the generated serving certificate, in PEM. */
  readonly ca: string | undefined;
  readonly kinds: readonly Kind[];
  readonly index: SearchIndex;
  close(): Promise<void>;
}

export async function startSearchService(options: SearchServiceOptions): Promise<SearchService> {
  const { access, cluster, directory, log, clock = systemClock, random = systemRandom } = options;
  await using opened = new CleanupStack();
  const client = connect(configOf(access), { clock, answerBytesMax });
  opened.defer(() => client.close());
  const isFleet = cluster === undefined;
  const source = isFleet
    ? { client, fleetClient: pathClient(client, planePath('*')), cluster: rootCluster }
    : { client, cluster };
  const index = await SearchIndex.open({ directory, source, clock, random, log });
  opened.defer(() => index.close());
  const clientOf = (name: string): Pick<Client, 'raw'> =>
    isFleet && name !== rootCluster ? pathClient(client, planePath(name)) : client;
  const searcher = new Searcher({ index, review: accessReviews({ clientOf, clock }), clock });
  const kindsOf = (scope: Scope): Kind[] => [
    searchKind({
      onCreate: async (search, { user }) => ({
        ...search,
        status: await searcher.search(search.spec, { user, scope }),
      }),
    }),
  ];
  const kinds = kindsOf(isFleet ? { type: 'platform' } : { type: 'cluster', cluster });
  const { host, port, hosts, certificate, onError } = options;
  const server = await serveAggregated({
    kinds,
    access,
    host,
    port,
    clock,
    random,
    ...(hosts ? { hosts } : {}),
    ...(certificate ? { certificate } : {}),
    ...(onError ? { onError } : {}),
    ...(isFleet ? { select: planeViews(new FrontProxies(client, clock), clock, kindsOf) } : {}),
  });
  opened.defer(() => server.close());
  const running = opened.move();
  return { port: server.port, ca: server.ca, kinds, index, close: () => running.run() };
}

/** Pages of lists are smaller if their objects are larger: tenants choose the size of their objects. */
const answerBytesMax = 32 * 1024 * 1024;

const planePath = (cluster: string): string => `/clusters/${cluster}/control-plane`;

const viewsMax = 256;
/** The API server of the control plane authorized the request before it passed it on. */
const authorizedByPlane: Authorizer = { authorize: () => 'allow' };

/** Returns the function that selects the view of a control plane. Views are kept for later requests. */
function planeViews(
  proxies: FrontProxies,
  clock: Clock,
  kindsOf: (scope: Scope) => readonly Kind[],
): NonNullable<AggregatedServerOptions['select']> {
  const proofs = new PlaneProofs(proxies, clock);
  /** Least recently used first. */
  const views = new Map<string, AggregatedView>();
  return async (request, { open }) => {
    const proven = await proofs.prove(request);
    if (!proven) return undefined;
    const { authority } = proven;
    const { name } = proven.plane;
    const key = `${name}\n${authority.id}`;
    const view =
      views.get(key) ??
      open({
        kinds: kindsOf({ type: 'cluster', cluster: name }),
        authenticators: [
          new FrontProxyAuthenticator(clock, { authorities: authority.certificate, ...frontProxyHeaders }),
        ],
        authorizers: [authorizedByPlane],
      });
    views.delete(key);
    views.set(key, view);
    if (views.size > viewsMax) {
      const [oldest, unused] = views.entries().next().value!;
      views.delete(oldest);
      unused.close();
    }
    return { ...view, handle: () => view.handle(proven.request) };
  };
}
