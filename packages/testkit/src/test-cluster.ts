/**
 * A fake client that behaves like the server because it is the server: a whole control plane on a store in memory, asked without
 * a socket. Without controllers, like envtest: nobody makes pods of deployments here, unless a test does.
 */

import { RestClient } from '@hangar/client';
import type { Client, ClusterConfig, HttpTransport, InProcessHandler } from '@hangar/client';
import { assert } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { openRootPlane } from './root-plane.ts';
import type { RootPlane, WorldOptions } from './root-plane.ts';
import { openTlsPort } from './tls-port.ts';
import type { TlsPort } from './tls-port.ts';
import { administrator, userTransport } from './users.ts';
import type { TestUser } from './users.ts';

export interface TestClusterOptions extends WorldOptions {
  /** Real TLS on loopback, besides. Absent: no socket. */
  readonly listen?: boolean;
  /** `masters` (absent): administrators may do everything, all others nothing. `rbac`: as in a cluster. */
  readonly authorization?: 'masters' | 'rbac';
}

export interface TestCluster extends AsyncDisposable {
  /** May do everything. */
  readonly client: Client;
  /** For transports and proxies of the test's own. */
  readonly handler: InProcessHandler;
  clientOf(user: TestUser): Client;
  /** What such a client speaks through, for `faultyTransport` and the like. Absent: of who may do everything. */
  transportOf(user?: TestUser): HttpTransport;
  /** `https://127.0.0.1:port`. These four are of a cluster with `listen`. */
  readonly url: string;
  /** For `connect`: an administrator's. */
  readonly config: ClusterConfig;
  readonly kubeconfig: string;
  configOf(user: TestUser): ClusterConfig;
}

export function startTestCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  return driven(options.clock, open(options));
}

async function open({ listen = false, ...options }: TestClusterOptions): Promise<TestCluster> {
  const root = await openRootPlane(options);
  try {
    return new RunningCluster(root, listen ? await openTlsPort(root.handler) : undefined);
  } catch (error) {
    await root.close();
    throw error;
  }
}

class RunningCluster implements TestCluster {
  readonly #root: RootPlane;
  readonly #port: TlsPort | undefined;
  readonly #clients: Client[] = [];
  readonly handler: InProcessHandler;
  readonly client: Client;

  constructor(root: RootPlane, port: TlsPort | undefined) {
    this.#root = root;
    this.#port = port;
    this.handler = root.handler;
    this.client = this.clientOf(administrator);
  }

  get url(): string {
    return this.#listening().url;
  }

  get config(): ClusterConfig {
    return this.#listening().configOf();
  }

  get kubeconfig(): string {
    return this.#listening().kubeconfigOf();
  }

  configOf(user: TestUser): ClusterConfig {
    return this.#listening().configOf(user);
  }

  transportOf(user: TestUser = administrator): HttpTransport {
    return userTransport(this.handler, user, this.#root.clock);
  }

  clientOf(user: TestUser): Client {
    const { clock, random } = this.#root;
    const client = new RestClient(this.transportOf(user), { clock, random });
    this.#clients.push(client);
    return client;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return driven(this.#root.clock, this.#close());
  }

  async #close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.#port?.close();
    await this.#root.close();
  }

  #listening(): TlsPort {
    assert(this.#port, 'this cluster has no socket: start it with listen: true');
    return this.#port;
  }
}

/** In virtual time, as much of it passes as that needs. */
export const driven = <T>(clock: Clock | undefined, done: Promise<T>): Promise<T> =>
  clock instanceof Scheduler ? clock.run(done) : done;
