/**
 * Runs a complete control plane on a store in memory, without a socket. Use it instead of a fake client: it behaves like the server
 * because it is the server. Like envtest, it runs no controllers, so a Deployment gets no Pods unless the test creates them.
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

/** Options of `startTestCluster`. */
export interface TestClusterOptions extends WorldOptions {
  /** Serves TLS on a loopback port in addition. Absent: no socket. */
  readonly listen?: boolean;
  /** `masters` (default): members of `system:masters` may do everything, all other users nothing. `rbac`: RBAC as in a cluster. */
  readonly authorization?: 'masters' | 'rbac';
}

/** A running cluster. Disposing it stops the server. */
export interface TestCluster extends AsyncDisposable {
  /** Client of an administrator. */
  readonly client: Client;
  /** Handler of the server, for custom transports and proxies. */
  readonly handler: InProcessHandler;
  /** Returns a client of this user. */
  clientOf(user: TestUser): Client;
  /** Returns the transport of a client of this user, for example for `faultyTransport`. Absent: an administrator. */
  transportOf(user?: TestUser): HttpTransport;
  /** URL of the server, `https://127.0.0.1:port`. Like `config`, `kubeconfig` and `configOf`, it requires `listen`. */
  readonly url: string;
  /** Configuration of an administrator, for `connect`. */
  readonly config: ClusterConfig;
  /** Kubeconfig of an administrator, as YAML. */
  readonly kubeconfig: string;
  /** Returns the configuration of this user, for `connect`. */
  configOf(user: TestUser): ClusterConfig;
}

/**
 * Starts a cluster, typically in milliseconds.
 *
 *     await using cluster = await startTestCluster({ authorization: 'rbac' });
 *     const client = cluster.clientOf(serviceAccount('system', 'operator'));
 */
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

/** Advances virtual time until the promise settles. */
export const driven = <T>(clock: Clock | undefined, done: Promise<T>): Promise<T> =>
  clock instanceof Scheduler ? clock.run(done) : done;
