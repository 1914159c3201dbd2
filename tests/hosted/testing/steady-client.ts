/**
 * A client that reads and writes every 100 ms while components of a control plane are killed, scaled or upgraded.
 *
 *     await using steady = await SteadyClient.start(kubeconfig);
 *     const operations = await steady.during(() => killAndWait());
 *     await steady.finish();                                       // rejects if anything acknowledged is missing
 *
 * An operation creates the ConfigMap `steady-N`, and then reads the previous one. After a failed attempt the client opens a new connection
 * and tries the same operation again. It retries connection errors, timeouts, and the responses 429, 500, 503 and 504; all others
 * are faults. `AlreadyExists` after a failed attempt is an acknowledgement: the server executed that attempt.
 */

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client, ClusterConfig } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';

const intervalMs = 100;
const retryDelayMs = 50;
const attemptTimeoutMs = 5_000;
/** A control plane that is available needs a fraction of it, also on a busy machine. */
const operationTimeoutMs = 30_000;
const retried = [
  'ConnectionFailed',
  'ConnectionLost',
  'TimedOut',
  'TooManyRequests',
  'InternalError',
  'ServiceUnavailable',
  'Timeout',
  'ServerTimeout',
];

export interface Operation {
  readonly durationMs: number;
  /** Attempts that failed before the one that succeeded. */
  readonly failures: readonly string[];
}

export class SteadyClient implements AsyncDisposable {
  readonly #config: ClusterConfig;
  readonly #namespace: string;
  readonly #operations: Operation[] = [];
  readonly #stopping = new AbortController();
  #client: Client;
  #running: Promise<void> = Promise.resolve();
  #fault: Error | undefined;

  private constructor(config: ClusterConfig, namespace: string) {
    this.#config = config;
    this.#namespace = namespace;
    this.#client = this.#connect();
  }

  /** `kubeconfig`: the text. `namespace`: must not exist. Resolves after the first operation. */
  static async start(kubeconfig: string, namespace = 'steady'): Promise<SteadyClient> {
    const steady = new SteadyClient(await configOfKubeconfig(kubeconfig), namespace);
    await steady.#try((client) => client.create(Namespace, { metadata: { name: namespace } }));
    await steady.#operate(0);
    steady.#running = steady.#run().catch((error: unknown) => void (steady.#fault = asError(error)));
    return steady;
  }

  /**
   * Runs a disruption, and returns the operations that were completed meanwhile. Resolves after an operation that started later. Rejects
   * if an operation failed.
   */
  async during(disrupt: () => Promise<void>): Promise<readonly Operation[]> {
    const from = this.#operations.length;
    await disrupt();
    const to = this.#operations.length;
    // The first one started before.
    while (!this.#fault && this.#operations.length < to + 2) await delay(intervalMs);
    if (this.#fault) throw this.#fault;
    return this.#operations.slice(from, to);
  }

  /** Stops, and compares the acknowledged writes with the stored objects. Returns a summary of all operations. */
  async finish(): Promise<string> {
    await this.#stop();
    if (this.#fault) throw this.#fault;
    const stored = new Set<string>();
    const list = await this.#try((client) => client.list(ConfigMap, { namespace: this.#namespace }));
    for (const { metadata, data } of list?.items ?? []) {
      if (metadata.name === nameOf(data?.['number'])) stored.add(metadata.name);
    }
    const lost = this.#operations.map((_, number) => nameOf(number)).filter((name) => !stored.has(name));
    assert.deepEqual(lost, [], 'acknowledged writes that are not stored');
    return summaryOf(this.#operations);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await this.#client.close();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  #connect(): Client {
    return connect(this.#config, { retry: false, timeoutMs: attemptTimeoutMs });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await delay(intervalMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.#operate(this.#operations.length);
    }
  }

  async #operate(number: number): Promise<void> {
    const fromMs = performance.now();
    const failures: string[] = [];
    const namespace = this.#namespace;
    const metadata = { namespace, name: nameOf(number) };
    const write = (client: Client) => client.create(ConfigMap, { metadata, data: { number: String(number) } });
    await this.#try(write, failures);
    const key = { namespace, name: nameOf(Math.max(0, number - 1)) };
    await this.#try((client) => client.get(ConfigMap, key), failures);
    this.#operations.push({ durationMs: performance.now() - fromMs, failures });
  }

  async #try<T>(call: (client: Client) => Promise<T>, failures: string[] = []): Promise<T | undefined> {
    const deadlineMs = performance.now() + operationTimeoutMs;
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await call(this.#client);
      } catch (error) {
        if (!isFirst && hasCode(error, 'AlreadyExists')) return undefined;
        const isRetried = retried.some((code) => hasCode(error, code));
        if (!isRetried || performance.now() > deadlineMs) {
          throw new Error(`operation failed after ${failures.length} retries: ${asError(error).message}`, {
            cause: error,
          });
        }
        failures.push(asError(error).message);
      }
      await this.#client.close();
      await delay(retryDelayMs);
      this.#client = this.#connect();
    }
  }
}

const nameOf = (number: string | number | undefined): string => `steady-${number}`;

function summaryOf(operations: readonly Operation[]): string {
  const retries = operations.reduce((sum, { failures }) => sum + failures.length, 0);
  const longestMs = Math.max(...operations.map(({ durationMs }) => durationMs));
  return `${operations.length} operations, ${retries} retries, the longest took ${Math.round(longestMs)} ms`;
}
