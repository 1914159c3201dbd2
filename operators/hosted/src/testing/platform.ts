/**
 * A management cluster in the process of the test with the two kinds and the operator, and another cluster that stands for the API server
 * of every control plane. The operator can be stopped and started again; its requests are counted.
 */

import { definitions as backupDefinitions } from '@hangar/backup-operator';
import { RestClient } from '@hangar/client';
import type { Client, HttpTransport } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { ServiceCIDR } from '@hangar/client/kinds/networking-v1';
import type { Clock, Failpoints } from '@hangar/core';
import { Logger, seededRandom, systemClock } from '@hangar/core';
import type { MetricsRegistry } from '@hangar/runtime';
import { Activity, installCrd, startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { definitions } from '../api/generated/index.ts';
import { sessionDouble } from '../etcd/testing/observations.ts';
import type { ObservedFigures } from '../etcd/testing/observations.ts';
import { hostedOperator } from '../operator.ts';
import type { HostedOperatorOptions } from '../operator.ts';
import type { Renderings } from '../render/index.ts';
import { workloadDouble } from './workload-double.ts';
import type { WorkloadDouble } from './workload-double.ts';

export interface TestPlatform extends AsyncDisposable {
  /** Of the management cluster, as an administrator. */
  readonly client: Client;
  /** Of the control planes. */
  readonly inside: Client;
  readonly workloads: WorkloadDouble;
  /** Sizes and alarms of etcd. Undefined: it is not reachable. */
  etcdHealth: ObservedFigures | undefined;
  /** Requests of the operator since `forget`, without watches: `PATCH /api/…`. */
  readonly requests: readonly string[];
  readonly writes: readonly string[];
  forget(): void;
  /** `renderings`: instead of those of the platform. */
  start(failpoints?: Failpoints, renderings?: Renderings): RunningOperator;
  /** Resolves when the operator is idle. */
  quiet(): Promise<void>;
}

export interface RunningOperator {
  readonly ended: Promise<unknown>;
  readonly metrics: MetricsRegistry;
  /** Stops at once, as if the process were killed: nothing in progress is completed. */
  stop(): Promise<void>;
}

export interface TestPlatformOptions extends Pick<
  HostedOperatorOptions,
  | 'serviceType'
  | 'clusterApi'
  | 'tlsRouteVersion'
  | 'certManager'
  | 'frontDoor'
  | 'renderings'
  | 'autoscaling'
  | 'backups'
> {
  readonly clock?: Clock;
}

export const namespace = 'team';
const silent = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

/** Starts a cluster that stands for the API server of a control plane: it has the networks of Services of all tests. */
export async function startTenantDouble(options: { readonly clock?: Clock } = {}): Promise<TestCluster> {
  const tenant = await startTestCluster(options);
  for (const [at, cidr] of ['10.96.0.0/12', '10.50.0.0/16'].entries()) {
    await tenant.client.create(ServiceCIDR, { metadata: { name: `hosted-${at}` }, spec: { cidrs: [cidr] } });
  }
  return tenant;
}

export async function startTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const { clock = systemClock, serviceType = 'ClusterIP', clusterApi, tlsRouteVersion, certManager } = options;
  const { frontDoor, autoscaling } = options;
  await using opened = new AsyncDisposableStack();
  const management = opened.use(await startTestCluster({ clock }));
  const tenant = opened.use(await startTenantDouble({ clock }));
  const kinds = options.backups ? [...definitions, ...backupDefinitions] : definitions;
  for (const definition of kinds) await installCrd(management.client, definition);
  await management.client.create(Namespace, { metadata: { name: namespace } });
  const workloads = workloadDouble(management.client);
  opened.defer(() => workloads.stop());
  let requests: string[] = [];
  const activity = new Activity();
  const counted = (transport: HttpTransport, prefix = ''): HttpTransport => {
    const watched = activity.watched(transport);
    return {
      request(request) {
        requests.push(`${request.method} ${prefix}${request.target}`);
        return watched.request(request);
      },
      close: () => Promise.resolve(),
    };
  };
  const running = new Set<RunningOperator>();
  opened.defer(async () => void (await Promise.all(Array.from(running, (one) => one.stop()))));
  const start = (failpoints?: Failpoints, renderings = options.renderings): RunningOperator => {
    const ending = new AbortController();
    const random = seededRandom(7);
    const rest = { clock, random, retry: false as const };
    const manager = hostedOperator({
      management: new RestClient(counted(management.transportOf()), rest),
      connect: () => Promise.resolve(new RestClient(counted(tenant.transportOf(), 'inside '), rest)),
      openEtcd: sessionDouble(() => platform.etcdHealth),
      serviceType,
      clusterApi,
      tlsRouteVersion,
      certManager,
      frontDoor,
      renderings,
      autoscaling,
      backups: options.backups,
      clock,
      random,
      log: silent,
      failpoints,
    });
    activity.add(manager.registry);
    const ended = manager.run(ending.signal).catch((error: unknown) => error);
    const one = {
      ended,
      metrics: manager.registry,
      async stop() {
        ending.abort();
        await ended;
        activity.delete(manager.registry);
        running.delete(one);
      },
    };
    running.add(one);
    return one;
  };
  const closing = opened.move();
  const platform: TestPlatform = {
    client: management.client,
    inside: tenant.client,
    workloads,
    etcdHealth: undefined,
    get requests() {
      return requests.filter((one) => !one.includes('watch='));
    },
    get writes() {
      return requests.filter((one) => !one.startsWith('GET '));
    },
    forget: () => (requests = []),
    start,
    quiet: () => activity.idle(),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
  return platform;
}
