/**
 * Engines on a fleet in the test's process. Each cluster has a kubeconfig in a Secret that the test can change. The test sees every request
 * to a cluster with its user agent, and can refuse it.
 */

import type { ClusterConfig, HttpAnswer, HttpRequest, HttpTransport, ObjectKey } from '@hangar/client';
import { controllersAnnotation, controllersByAnnotation } from '@hangar/controllers';
import type { FleetFeed } from '@hangar/controllers';
import { Logger, systemClock, systemRandom } from '@hangar/core';
import { faultyTransport, startTestFleet, Tenant } from '@hangar/testkit';
import type { FaultyTransport, TestFleet } from '@hangar/testkit';
import type { FleetCluster, ServiceState, Serving } from '../../../contract.ts';
import { essentialEngine } from '../engine.ts';
import type { EssentialEngine } from '../engine.ts';
import { controlPlaneAnnotation } from '../handed-over.ts';
import { TestOwnership } from './ownership.ts';

export const silent = new Logger({ level: 'silent', format: 'text', clock: systemClock });

export interface SeenRequest {
  readonly cluster: string;
  readonly agent: string;
  readonly isWrite: boolean;
  readonly text: string;
}

export class Ground implements AsyncDisposable {
  readonly fleet: TestFleet;
  /** Contents of the Secrets, by name. */
  readonly kubeconfigs = new Map<string, string>();
  readonly reads: string[] = [];
  readonly requests: SeenRequest[] = [];
  /** Called when a request arrives, and when it is answered. */
  onRequest: (request: SeenRequest, isAnswered: boolean) => void = () => undefined;
  /** Answers every write instead of executing it. */
  refusal: HttpAnswer | undefined;
  /** Tokens that clusters accept. */
  readonly tokens = new Map<string, string>();
  readonly #faults = new Map<string, FaultyTransport>();
  readonly #ending = new AsyncDisposableStack();

  private constructor(fleet: TestFleet) {
    this.fleet = fleet;
    for (const cluster of fleet.clusters) this.setToken(cluster, 'first');
  }

  static async open(clusters: readonly string[], options: { readonly hasAccounts?: boolean } = {}): Promise<Ground> {
    const fleet = await startTestFleet({ clusters, hasAccounts: true, servingCa: 'the CA', ...options });
    return new Ground(fleet);
  }

  /** Sets the token that the cluster accepts, by default also in its Secret. */
  setToken(cluster: string, token: string, isInSecret = true): void {
    this.tokens.set(cluster, token);
    if (isInSecret) this.kubeconfigs.set(cluster, kubeconfigOf(cluster, token));
  }

  faultsOf(cluster: string): FaultyTransport {
    let faults = this.#faults.get(cluster);
    if (!faults) this.#faults.set(cluster, (faults = faultyTransport(this.fleet.transportOf(cluster))));
    return faults;
  }

  /** Runs until the ground is disposed, or until it is stopped. */
  engine(userAgent: string, feed: FleetFeed = this.fleet.feed()): EssentialEngine & { stop(): Promise<void> } {
    const engine = essentialEngine({
      feed,
      kubeconfigs: { read: (secret) => this.#read(secret) },
      clock: systemClock,
      random: systemRandom,
      log: silent,
      userAgent,
      connect: (config) => this.#connect(config),
    });
    const ending = new AbortController();
    const running = engine.run(ending.signal);
    const stop = async (): Promise<void> => {
      ending.abort();
      await running;
    };
    this.#ending.defer(stop);
    return Object.assign(engine, { stop });
  }

  async handOver(cluster: string, by: string | null, controlPlane = cluster): Promise<void> {
    const annotations = {
      [controlPlaneAnnotation]: controlPlane,
      [controllersAnnotation]: by && 'External',
      [controllersByAnnotation]: by,
    };
    await this.fleet.client.patch(Tenant, { name: cluster }, { type: 'merge', body: { metadata: { annotations } } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ending.disposeAsync();
    await this.fleet[Symbol.asyncDispose]();
  }

  #read({ name }: ObjectKey): Promise<string | undefined> {
    this.reads.push(name);
    return Promise.resolve(this.kubeconfigs.get(name));
  }

  #connect({ server, credentials }: ClusterConfig): HttpTransport {
    const cluster = new URL(server).pathname.split('/')[2]!;
    return {
      request: async (request) => {
        const { authorization } = (await credentials!.headers()) as { authorization?: string };
        const seen = seenOf(cluster, request);
        this.requests.push(seen);
        this.onRequest(seen, false);
        const isAccepted = authorization === `Bearer ${this.tokens.get(cluster)}`;
        const refusal = isAccepted ? seen.isWrite && this.refusal : answerOf(401);
        const answer = refusal || (await this.faultsOf(cluster).request(request));
        this.onRequest(seen, true);
        return answer;
      },
      close: () => Promise.resolve(),
    };
  }
}

function seenOf(cluster: string, { method, target, headers }: HttpRequest): SeenRequest {
  const agent = headers?.['user-agent']?.split('/')[0] ?? '';
  return { cluster, agent, isWrite: method !== 'GET', text: `${method} ${target}` };
}

/** A refusal. */
export function answerOf(code: number, message?: string): HttpAnswer {
  const body = Buffer.from(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message }));
  return {
    status: code,
    header: () => undefined,
    body: () => Promise.resolve(body),
    async *stream() {
      yield body;
    },
  };
}

export function kubeconfigOf(cluster: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'it', cluster: { server: `https://fleet.test/clusters/${cluster}/control-plane` } }],
    users: [{ name: 'it', user: { token } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    'current-context': 'it',
  });
}

/** Registered as `registration-NAME`. */
export const clusterOf = (name: string, over: Partial<FleetCluster> = {}): FleetCluster => ({
  name,
  source: { kind: 'ControlPlaneRegistration', name: `registration-${name}`, uid: `uid-${name}` },
  services: new Set(['controllers']),
  labels: {},
  address: undefined,
  secret: { namespace: 'kplane', name },
  ...over,
});

export interface Served extends Serving {
  readonly states: ServiceState[];
  readonly ownership: TestOwnership;
  /** `Ready/Serving`. */
  readonly said: string;
}

export function serve(engine: EssentialEngine, cluster: FleetCluster, ownership = new TestOwnership()): Served {
  const states: ServiceState[] = [];
  const serving = engine.serve({
    cluster,
    service: 'controllers',
    ownership,
    report: (state) => void states.push(state),
  });
  return {
    states,
    ownership,
    update: (next) => serving.update(next),
    stop: () => serving.stop(),
    get said() {
      const last = states.at(-1);
      return last ? `${last.phase}/${last.reason}` : '';
    },
  };
}

/** Repeats the call until it neither throws nor returns false. Fails with the last error. */
export async function eventually(ask: () => unknown, withinMs = 8_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    try {
      if ((await ask()) !== false) return;
      throw new Error(`not so within ${withinMs} ms`);
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
