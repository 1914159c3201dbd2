/**
 * Writes to an etcd cluster at a given rate while its members are killed and replaced, and then compares the content of the cluster with all
 * acknowledged writes.
 *
 *     await using load = EtcdLoad.start({ members: () => etcdAccess(client, key), writesPerSecond: 2_000 });
 *     await disrupt();
 *     const report = await load.finish();
 *     assert.deepEqual(report.lost, []);
 *
 * Each writer owns some keys and writes rising numbers to them, one write at a time. A write with an error may have happened or not, so that
 * the stored number of a key is at least the last acknowledged one and at most the last sent one.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import type { EtcdMemberAccess } from './etcd-access.ts';

export interface EtcdLoadOptions {
  /** Returns the current members. Called again after errors. */
  readonly members: () => Promise<readonly EtcdMemberAccess[]>;
  readonly writesPerSecond: number;
  readonly writers?: number;
  readonly keysPerWriter?: number;
  readonly valueBytes?: number;
}

export interface LoadReport {
  readonly acknowledged: number;
  /** Writes with an error, which may have happened. */
  readonly unknown: number;
  readonly seconds: number;
  /** The longest time between two acknowledged writes of any writer. */
  readonly longestPauseMs: number;
  readonly p99Ms: number;
  /** Keys whose stored number is not possible. Empty: nothing acknowledged was lost. */
  readonly lost: readonly string[];
  readonly keys: number;
}

interface WrittenKey {
  sent: number;
  acknowledged: number;
}

const prefix = '/disruptions/';
const attemptTimeoutMs = 3_000;
/** Between two tries to find a member that accepts writes. */
const retryDelayMs = 50;
/** Pods get another address when they are replaced. */
const listPeriodMs = 500;
/** Latencies above are counted as this one. */
const latencyMsMax = 60_000;

export class EtcdLoad implements AsyncDisposable {
  readonly #options: Required<EtcdLoadOptions>;
  readonly #keys = new Map<string, WrittenKey>();
  readonly #ending = new AbortController();
  readonly #startedMs = performance.now();
  /** By whole milliseconds. */
  readonly #latencies = new Uint32Array(latencyMsMax + 1);
  #acknowledged = 0;
  #unknown = 0;
  #longestPauseMs = 0;
  #lastMs = performance.now();
  #revision = 0;
  readonly #faults: string[] = [];
  readonly #stores: MemberStores;
  readonly #running: Promise<unknown>;

  private constructor(options: EtcdLoadOptions) {
    this.#options = { writers: 64, keysPerWriter: 50, valueBytes: 256, ...options };
    this.#stores = new MemberStores(options.members);
    const writers = Array.from({ length: this.#options.writers }, (_, writer) => this.#write(writer));
    this.#running = Promise.all(writers);
  }

  static start(options: EtcdLoadOptions): EtcdLoad {
    return new EtcdLoad(options);
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Resolves when this many more writes are acknowledged. */
  async more(writes: number): Promise<void> {
    const wanted = this.#acknowledged + writes;
    while (this.#acknowledged < wanted && !this.#ending.signal.aborted) await delay(20);
  }

  /** Stops the writers and compares the content of the cluster. */
  async finish(): Promise<LoadReport> {
    const seconds = (performance.now() - this.#startedMs) / 1_000;
    this.#ending.abort();
    await this.#running;
    const stored = await this.#stored();
    const lost = [...this.#faults];
    for (const [key, { sent, acknowledged }] of this.#keys) {
      const number = stored.get(key) ?? 0;
      if (number < acknowledged || number > sent) {
        lost.push(`${key} is ${number}, acknowledged ${acknowledged}, sent ${sent}`);
      }
    }
    return {
      acknowledged: this.#acknowledged,
      unknown: this.#unknown,
      seconds,
      longestPauseMs: this.#longestPauseMs,
      p99Ms: this.#percentile(0.99),
      lost,
      keys: this.#keys.size,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#stores.close();
  }

  async #write(writer: number): Promise<void> {
    const { writers, writesPerSecond, keysPerWriter, valueBytes } = this.#options;
    const { signal } = this.#ending;
    const intervalMs = (1_000 * writers) / writesPerSecond;
    let member = writer;
    let dueMs = performance.now() + (intervalMs * writer) / writers;
    for (let turn = 0; !signal.aborted; turn++) {
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await delay(waitMs);
      // After a pause of the cluster the load continues with its rate: writes that were not made are not made up.
      dueMs = Math.max(dueMs + intervalMs, performance.now() - intervalMs);
      const key = `${prefix}${writer}/${turn % keysPerWriter}`;
      if (await this.#put(member, key, valueBytes)) continue;
      member++;
      await delay(retryDelayMs);
    }
  }

  /** Returns whether the write was acknowledged. */
  async #put(member: number, key: string, valueBytes: number): Promise<boolean> {
    const store = await this.#stores.at(member);
    if (!store) return false;
    const written = this.#keys.get(key) ?? { sent: 0, acknowledged: 0 };
    this.#keys.set(key, written);
    const number = ++written.sent;
    const value = Buffer.from(String(number).padEnd(valueBytes));
    const [startedMs, newest] = [performance.now(), this.#revision];
    try {
      const { revision } = await store.commit([{ type: 'put', key, value }]);
      if (revision <= newest) this.#faults.push(`${key} was written at ${revision}, after an answer with ${newest}`);
      written.acknowledged = number;
      this.#count(startedMs, revision);
      return true;
    } catch {
      this.#unknown++;
      return false;
    }
  }

  #count(startedMs: number, revision: number): void {
    const nowMs = performance.now();
    this.#acknowledged++;
    this.#revision = Math.max(this.#revision, revision);
    this.#longestPauseMs = Math.max(this.#longestPauseMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    this.#latencies[Math.min(latencyMsMax, Math.round(nowMs - startedMs))]!++;
  }

  #percentile(share: number): number {
    let rest = this.#acknowledged * share;
    const at = this.#latencies.findIndex((count) => (rest -= count) <= 0);
    return at === -1 ? latencyMsMax : at;
  }

  async #stored(): Promise<ReadonlyMap<string, number>> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const store = await this.#stores.at(attempt);
      const found = await store?.range(prefixRange(prefix)).catch(() => undefined);
      if (found) return new Map(found.entries.map(({ key, value }) => [key, Number(Buffer.from(value).toString())]));
      await delay(retryDelayMs * 4);
    }
    throw new Error('no member of etcd answers');
  }
}

/** One store for each member, opened again after errors. */
class MemberStores {
  readonly #members: EtcdLoadOptions['members'];
  /** By the uid of the pod. */
  readonly #stores = new Map<string, Promise<Store>>();
  #current: Promise<readonly EtcdMemberAccess[]> | undefined;
  #listedMs = -Infinity;

  constructor(members: EtcdLoadOptions['members']) {
    this.#members = members;
  }

  /** Undefined: this member does not answer. */
  async at(turn: number): Promise<Store | undefined> {
    try {
      const members = await this.#list();
      const { pod, endpoints, tls } = members[turn % members.length]!;
      const uid = pod.metadata.uid!;
      let store = this.#stores.get(uid);
      if (!store) {
        store = openEtcdStore({ endpoints, tls, requestTimeoutMs: attemptTimeoutMs });
        store.catch(() => this.#stores.delete(uid));
        this.#stores.set(uid, store);
      }
      return await store;
    } catch {
      return undefined;
    }
  }

  async close(): Promise<void> {
    for (const store of this.#stores.values()) await store.then((one) => one.close()).catch(() => {});
  }

  #list(): Promise<readonly EtcdMemberAccess[]> {
    if (!this.#current || performance.now() - this.#listedMs > listPeriodMs) {
      this.#listedMs = performance.now();
      this.#current = this.#members();
    }
    return this.#current;
  }
}
