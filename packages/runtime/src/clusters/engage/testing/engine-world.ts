/**
 * testing: an engine in virtual time, with a scripted provider, clusters that open, hang, fail and stop as scripted, and controllers that
 * record their calls. Every created cluster is tracked until it is stopped and closed, so that leaks are found.
 */

import { RestClient } from '@hangar/client';
import type { HttpAnswer, HttpRequest } from '@hangar/client';
import { abortError, seededRandom } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { Cache } from '../../../cache/contract.ts';
import type { Cluster } from '../../../cluster.ts';
import { MetricsRegistry } from '../../../metrics/registry.ts';
import type { Aware, DiscoveredCluster, Discovery, Engagement, Provider } from '../../contract.ts';
import { ClusterEngine } from '../engine.ts';
import type { ClusterEngineOptions } from '../engine.ts';

export const clientOf = (request: (sent: HttpRequest) => Promise<HttpAnswer>, onClose = () => {}): RestClient =>
  new RestClient({
    request,
    close() {
      onClose();
      return Promise.resolve();
    },
  });

export const okay: HttpAnswer = {
  status: 200,
  header: () => undefined,
  body: () => Promise.resolve(Buffer.from('{"kind":"List","metadata":{},"items":[]}')),
  async *stream() {},
};

/** One instance of a cluster. */
export class TestInstance {
  readonly name: string;
  readonly fingerprint: string;
  readonly indexes: string[] = [];
  readonly sent: HttpRequest[] = [];
  isStarted = false;
  isStopped = false;
  isClosed = false;
  /** Makes it stop by itself. */
  fail: (error: Error) => void = () => {};
  /** Returns the answer to a write. */
  answer = (_request: HttpRequest): Promise<HttpAnswer> => Promise.resolve(okay);
  readonly cluster: Cluster;

  constructor(name: string, fingerprint: string, synced: () => Promise<void>) {
    this.name = name;
    this.fingerprint = fingerprint;
    const client = clientOf(
      (request) => {
        this.sent.push(request);
        return this.answer(request);
      },
      () => (this.isClosed = true),
    );
    const cache = {
      addIndex: (_kind: unknown, index: string) => {
        if (index === 'refused') throw new Error('no such kind here');
        this.indexes.push(index);
      },
      synced,
    };
    this.cluster = {
      name,
      client,
      apiReader: client,
      cache: cache as unknown as Cache,
      start: (signal) => {
        this.isStarted = true;
        return new Promise((resolve, reject) => {
          this.fail = reject;
          const stop = (): void => {
            this.isStopped = true;
            resolve();
          };
          if (signal.aborted) stop();
          else signal.addEventListener('abort', stop, { once: true });
        });
      },
    };
  }

  get isOver(): boolean {
    return (this.isStopped || !this.isStarted) && this.isClosed;
  }
}

/** Virtual time that counts its timers. */
export class CountedTime extends Scheduler {
  readonly #set = new Set<object>();

  get timers(): number {
    return this.#set.size;
  }

  override after(delayMs: number, callback: () => void): Timer {
    const mark = {};
    this.#set.add(mark);
    const timer = super.after(delayMs, () => {
      this.#set.delete(mark);
      callback();
    });
    return {
      cancel: () => {
        this.#set.delete(mark);
        timer.cancel();
      },
    };
  }
}

export type Behaviour = 'opens' | 'fails' | 'hangs' | 'hangs for ever' | 'never syncs' | 'is refused';

/** A controller whose work finishes when the test requests it. */
export class TestAware implements Aware {
  readonly log: string[] = [];
  readonly engaged = new Map<string, { cluster: Cluster; signal: AbortSignal }>();
  /** Names whose work does not finish until they are deleted here. */
  readonly busy = new Map<string, () => void>();
  readonly #work = new Map<string, Promise<void>>();
  throwsFor: string | undefined;

  occupy(name: string): void {
    this.#work.set(name, new Promise((resolve) => this.busy.set(name, resolve)));
  }

  finish(name: string): void {
    this.busy.get(name)?.();
    this.busy.delete(name);
    this.#work.delete(name);
  }

  engage(name: string, cluster: Cluster, signal: AbortSignal): Engagement {
    if (this.throwsFor === name) throw new Error('not this one');
    if (this.engaged.has(name)) this.log.push(`${name} TWICE`);
    this.log.push(`${name} engaged`);
    this.engaged.set(name, { cluster, signal });
    signal.addEventListener('abort', () => {
      this.engaged.delete(name);
      this.log.push(`${name} ${(signal.reason as { code: string }).code}`);
    });
    return {
      drained: async () => {
        await this.#work.get(name);
        this.log.push(`${name} drained`);
      },
      abandon: () => this.log.push(`${name} abandoned`),
    };
  }
}

export class EngineWorldForTests {
  readonly clock: CountedTime;
  readonly metrics = new MetricsRegistry();
  readonly aware = new TestAware();
  readonly engine: ClusterEngine;
  readonly instances: TestInstance[] = [];
  /** By name; absent: it opens. */
  readonly behaviours = new Map<string, Behaviour>();
  /** Start time of each attempt to open. */
  readonly attempts: { name: string; atMs: number }[] = [];
  readonly running: Promise<void>;
  readonly #stop = new AbortController();
  #discovery!: Discovery;

  constructor(options: Partial<ClusterEngineOptions> = {}, seed = 1) {
    const random = seededRandom(seed);
    this.clock = new CountedTime(random);
    const provider: Provider = {
      name: 'test',
      run: (discovery, signal) => {
        this.#discovery = discovery;
        discovery.synced();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      },
    };
    this.engine = new ClusterEngine({ provider, clock: this.clock, random, metrics: this.metrics, ...options });
    this.engine.addAware(this.aware);
    this.running = this.engine.run(this.#stop.signal);
  }

  discover(name: string, fingerprint = '1', more: Partial<DiscoveredCluster> = {}): void {
    this.#discovery.discovered({
      name,
      fingerprint,
      open: (signal) => this.#open(name, fingerprint, signal),
      ...more,
    });
  }

  lose(name: string): void {
    this.#discovery.lost(name);
  }

  stateOf(name: string): string | undefined {
    return this.engine.status().find((one) => one.name === name)?.state;
  }

  /** Returns the instances that are not fully released. */
  alive(name?: string): TestInstance[] {
    return this.instances.filter((one) => !one.isOver && (name === undefined || one.name === name));
  }

  settle(): Promise<void> {
    return this.clock.advance(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.clock.run(this.running);
  }

  async #open(name: string, fingerprint: string, signal: AbortSignal): Promise<Cluster> {
    this.attempts.push({ name, atMs: this.clock.monotonicMs() });
    const behaviour = this.behaviours.get(name) ?? 'opens';
    if (behaviour === 'fails') throw new Error('no route');
    if (behaviour === 'is refused') throw Object.assign(new Error('no kubeconfig'), { code: 'Terminal' });
    if (behaviour === 'hangs for ever') await new Promise(() => {});
    if (behaviour === 'hangs') {
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(abortError(signal))));
    }
    const synced = (): Promise<void> => (behaviour === 'never syncs' ? new Promise<void>(() => {}) : Promise.resolve());
    const instance = new TestInstance(name, fingerprint, synced);
    this.instances.push(instance);
    return instance.cluster;
  }
}
