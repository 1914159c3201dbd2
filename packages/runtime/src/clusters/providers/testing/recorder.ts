/** testing: records what a provider reports, and waits for it. */

import assert from 'node:assert/strict';
import type { DiscoveredCluster, Discovery, Provider } from '../../contract.ts';

const patienceMs = 20_000;

export class Recorder implements Discovery, AsyncDisposable {
  /** `+name`, `-name`, `synced`, in order. A repeated report of an unchanged cluster is omitted. */
  readonly log: string[] = [];
  readonly clusters = new Map<string, DiscoveredCluster>();
  readonly running: Promise<void>;
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();

  constructor(provider: Provider) {
    this.running = provider.run(this, this.#stop.signal);
    this.running.catch(() => {});
  }

  get names(): string[] {
    return [...this.clusters.keys()].sort();
  }

  discovered(cluster: DiscoveredCluster): void {
    const before = this.clusters.get(cluster.name);
    this.clusters.set(cluster.name, cluster);
    if (before?.fingerprint !== cluster.fingerprint) this.#tell(`${before ? '*' : '+'}${cluster.name}`);
    else this.#tell();
  }

  lost(name: string): void {
    if (this.clusters.delete(name)) this.#tell(`-${name}`);
  }

  synced(): void {
    this.#tell('synced');
  }

  /** Resolves when the condition holds; fails after the timeout of a test. */
  until(what: string, isSo: () => boolean): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new assert.AssertionError({ message: `${what}: not so; told was ${this.log.join(' ')}` }));
      }, patienceMs);
      const look = (): void => {
        if (!isSo()) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  untilNames(...names: string[]): Promise<void> {
    return this.until(`clusters ${names.join(' ')}`, () => this.names.join() === [...names].sort().join());
  }

  untilTold(line: string): Promise<void> {
    return this.until(line, () => this.log.includes(line));
  }

  /** Rejects when the provider does. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.running.catch(() => {});
  }

  #tell(line?: string): void {
    if (line !== undefined) this.log.push(line);
    for (const look of this.#waiting) look();
  }
}
