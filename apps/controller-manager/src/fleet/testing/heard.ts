/** testing: records the events of a fleet, and waits for them. */

import assert from 'node:assert/strict';
import type { Fleet, FleetCluster, FleetListener } from '../../contract.ts';

const withinMs = 10_000;

export class Heard implements FleetListener, AsyncDisposable {
  readonly clusters = new Map<string, FleetCluster>();
  /** `+a`: added or changed; `-a`: removed; `synced`. */
  readonly events: string[] = [];
  readonly #ending = new AbortController();
  readonly #running: Promise<void>;
  #wake: () => void = () => undefined;

  constructor(fleet: Fleet) {
    this.#running = fleet.follow(this, this.#ending.signal);
  }

  changed(cluster: FleetCluster): void {
    this.clusters.set(cluster.name, cluster);
    this.#say(`+${cluster.name}`);
  }

  gone(name: string): void {
    assert.ok(this.clusters.delete(name), `${name} is gone, which was not there`);
    this.#say(`-${name}`);
  }

  synced(): void {
    this.#say('synced');
  }

  get isSynced(): boolean {
    return this.events.includes('synced');
  }

  async until(isSo: () => boolean): Promise<void> {
    const endMs = performance.now() + withinMs;
    while (!isSo()) {
      const leftMs = endMs - performance.now();
      assert.ok(leftMs > 0, `not so: ${this.events.join(' ')} ${JSON.stringify([...this.clusters.values()])}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Resolves with the cluster of this name, when the condition holds. */
  async cluster(name: string, isSo: (cluster: FleetCluster) => boolean = () => true): Promise<FleetCluster> {
    const found = (): FleetCluster | undefined => {
      const cluster = this.clusters.get(name);
      return cluster && isSo(cluster) ? cluster : undefined;
    };
    await this.until(() => found() !== undefined);
    return found()!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  #say(event: string): void {
    this.events.push(event);
    this.#wake();
  }
}
