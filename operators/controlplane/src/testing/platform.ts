/**
 * A whole platform in a test's process: a Hangar with tenants, the four kinds, and the operator. The operator can be stopped and restarted;
 * its requests are counted.
 */

import { ClientError, RestClient } from '@hangar/client';
import type { Client, ClusterConfig, HttpTransport } from '@hangar/client';
import type { Clock, Failpoints } from '@hangar/core';
import { Logger, seededRandom, sleep, systemClock } from '@hangar/core';
import { startTestFleet, testAuthority } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { labels } from '../api/index.ts';
import { installDefinitions } from '../api/install.ts';
import { pathHost } from '../host/index.ts';
import type { InsideChange } from '../host/index.ts';
import type { MigrationPlatform } from '../migration/controller.ts';
import { controlPlaneOperator } from '../operator.ts';
import type { OperatorOptions } from '../operator.ts';
import { namespaceEnder } from './namespace-ender.ts';

export interface TestPlatform extends AsyncDisposable {
  readonly fleet: TestFleet;
  /** Of the management plane, as an administrator. */
  readonly client: Client;
  /** Inside of a tenant, as an administrator. */
  inside(path: string): Client;
  readonly serving: { ca: string };
  /** Away: the operator cannot connect to the host and its tenants. It can connect to the management plane. */
  readonly host: { isAway: boolean };
  /** Requests of the operator since `forget`: `PATCH /api/…`. */
  readonly writes: readonly string[];
  readonly requests: readonly string[];
  forget(): void;
  start(failpoints?: Failpoints): RunningOperator;
  /** Resolves when the operator has sent no request for a while: the absence of requests can only be waited for. */
  quiet(): Promise<void>;
}

export interface RunningOperator {
  readonly ended: Promise<unknown>;
  /** Stops at once, as if the process were killed: nothing in progress is completed. */
  stop(): Promise<void>;
}

export interface TestPlatformOptions {
  readonly clock?: Clock;
  readonly externalUrl?: string;
  readonly promotion?: OperatorOptions['promotion'];
  /** Connects to a dedicated control plane. */
  readonly dedicated?: (config: ClusterConfig) => HttpTransport;
  /** Of dedicated control planes. */
  readonly addonResyncMs?: number | undefined;
  /** Absent: control planes cannot be migrated. */
  readonly migration?: MigrationPlatform | undefined;
}

export const internalUrl = 'https://hangar.internal:6443';
const quietMs = 150;
const silent = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

export async function startTestPlatform({
  clock = systemClock,
  externalUrl,
  dedicated,
  addonResyncMs,
  migration,
  promotion,
}: TestPlatformOptions = {}): Promise<TestPlatform> {
  await using opened = new AsyncDisposableStack();
  const fleet = opened.use(await startTestFleet({ clusters: [], clock }));
  await installDefinitions(fleet.client);
  const serving = { ca: testAuthority().certificate };
  const away = { isAway: false };
  let requests: string[] = [];
  const counted = (transport: HttpTransport): HttpTransport => ({
    request(request) {
      requests.push(`${request.method} ${request.target}`);
      if (away.isAway && /tenancy\.hangar\.dev|^\/clusters\//.test(request.target)) {
        return Promise.reject(new ClientError('ConnectionFailed', 'the host is away, by the test'));
      }
      return transport.request(request);
    },
    close: () => Promise.resolve(),
  });
  const ender = namespaceEnder(fleet.client);
  opened.defer(() => ender.stop());
  const running = new Set<RunningOperator>();
  opened.defer(async () => void (await Promise.all(Array.from(running, (one) => one.stop()))));
  const start = (failpoints?: Failpoints): RunningOperator => {
    const ending = new AbortController();
    const random = seededRandom(7);
    const rest = { clock, random, retry: false as const };
    const transport = counted(fleet.transportOf());
    const host = pathHost({
      transport,
      internalUrl,
      externalUrl,
      servingCa: () => serving.ca,
      changes: (tell, signal) => addonChanges(fleet, tell, signal),
      ...rest,
    });
    const management = new RestClient(transport, rest);
    const manager = controlPlaneOperator({
      management,
      host,
      metrics: false,
      health: false,
      clock,
      random,
      log: silent,
      failpoints,
      migration,
      promotion,
      ...(dedicated
        ? {
            dedicated: {
              version: () => 'v1.36.4',
              addonResyncMs,
              connect: (config) => Promise.resolve(new RestClient(counted(dedicated(config)), rest)),
            },
          }
        : {}),
    });
    const ended = manager.run(ending.signal).catch((error: unknown) => error);
    const one = {
      ended,
      async stop() {
        ending.abort();
        await ended;
        running.delete(one);
      },
    };
    running.add(one);
    return one;
  };
  const closing = opened.move();
  return {
    fleet,
    client: fleet.client,
    inside: (path) => fleet.clientOf(path),
    serving,
    host: away,
    get requests() {
      return requests.filter((one) => !one.includes('watch='));
    },
    get writes() {
      return requests.filter((one) => !one.startsWith('GET '));
    },
    forget: () => (requests = []),
    start,
    async quiet() {
      for (let seen = -1; seen !== requests.length;) {
        seen = requests.length;
        await sleep(systemClock, quietMs);
      }
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** As the platform reports them. */
function addonChanges(fleet: TestFleet, tell: (change: InsideChange) => void, signal: AbortSignal): Promise<void> {
  const nothing = (): void => {};
  return fleet.feed().follow(
    {
      wants: () => true,
      changed(change) {
        const { isInitial, cluster, group, resource, namespace, name, resourceVersion } = change;
        if (isInitial || cluster === 'root') return;
        if (change.object().metadata.labels?.[labels.addon] === undefined) return;
        tell({ path: cluster, object: `${resource}.${group}/${namespace}/${name}`, resourceVersion });
      },
      synced: nothing,
      reset: nothing,
      clusterChanged: nothing,
      clusterTold: nothing,
      clusterGone: nothing,
    },
    signal,
  );
}
