/**
 * A client that writes at a constant rate, and remembers every acknowledged write.
 *
 *     await using writes = await AcknowledgedWrites.start(kubeconfig, { perSecond: 200 });
 *     await migrate();
 *     const report = await writes.finish();      // compares all of it with the stored objects
 *
 * Two of three writes create the ConfigMap `w-N`. The others increment one of 16 counters, conditional on its resourceVersion. No write is
 * repeated: a failed one is counted, and what it has done is unknown until the end.
 */

import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import { percentile } from '../../../bench/table.ts';

export interface WritesOptions {
  readonly perSecond: number;
  /** Must not exist. */
  readonly namespace?: string;
}

/** A version of an object whose write was acknowledged. */
interface Version {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface AcknowledgedWrite extends Version {
  /** When the request was sent, and when its answer arrived. */
  readonly sentMs: number;
  readonly acknowledgedMs: number;
}

export interface WritesReport {
  readonly acknowledged: number;
  /** Requests that ended with an error, by their message. */
  readonly failures: ReadonlyMap<string, number>;
  /** Acknowledged writes that are missing, changed or done twice; one line for each. */
  readonly faults: readonly string[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
  /** The longest time in which no write was acknowledged. */
  readonly longestPauseMs: number;
}

const counterCount = 16;
const inFlightMax = 256;
const requestTimeoutMs = 30_000;

interface Counter {
  readonly name: string;
  version: Version;
  value: number;
  /** A failed increment may have been executed, or may be executed until the next one succeeds. */
  isUnknown: boolean;
  isBusy: boolean;
}

export class AcknowledgedWrites implements AsyncDisposable {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #perSecond: number;
  readonly #counters: Counter[] = [];
  /** All acknowledged versions, in the order of their acknowledgement. */
  readonly #versions: AcknowledgedWrite[] = [];
  /** Found while it writes. */
  readonly #counterFaults: string[] = [];
  readonly #created = new Map<string, Version>();
  readonly #unknown = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #durationsMs: number[] = [];
  readonly #stopping = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #longestPauseMs = 0;
  /** Since the last call of `takeRecent`. */
  #recent = { pauseMs: 0, firstAt: 0 };
  #lastMs = performance.now();
  #running: Promise<void> = Promise.resolve();

  private constructor(client: Client, { perSecond, namespace = 'writes' }: WritesOptions) {
    this.#client = client;
    this.#perSecond = perSecond;
    this.#namespace = namespace;
  }

  /** `kubeconfig`: the text. */
  static async start(kubeconfig: string, options: WritesOptions): Promise<AcknowledgedWrites> {
    const config = await configOfKubeconfig(kubeconfig);
    const writes = new AcknowledgedWrites(connect(config, { retry: false, timeoutMs: requestTimeoutMs }), options);
    await writes.#prepare();
    writes.#running = writes.#run();
    return writes;
  }

  get acknowledged(): number {
    return this.#versions.length;
  }

  /** Returns the longest time without an acknowledged write since the last call, and the durations of the writes. */
  takeRecent(): { readonly longestPauseMs: number; readonly p99Ms: number } {
    const { pauseMs, firstAt } = this.#recent;
    this.#recent = { pauseMs: 0, firstAt: this.#durationsMs.length };
    const sorted = this.#durationsMs.slice(firstAt).toSorted((a, b) => a - b);
    return { longestPauseMs: pauseMs, p99Ms: percentile(sorted, 0.99) };
  }

  /** In the order of their acknowledgement. */
  get writes(): readonly AcknowledgedWrite[] {
    return this.#versions;
  }

  /** Resolves when this number of further writes is acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged + count;
    while (this.acknowledged < wanted) await delay(20);
  }

  /**
   * Stops, and compares with the stored objects. Writes a file for `Informers.missed`, if `versionsFile` is set: all created objects and the last
   * version of each counter. An informer that lists again does not see the versions of a counter in between.
   */
  async finish(versionsFile?: string): Promise<WritesReport> {
    await this.#stop();
    for (const counter of this.#counters) if (counter.isUnknown) await this.#read(counter);
    const faults = [...this.#counterFaults, ...(await this.#faults())];
    if (versionsFile !== undefined) {
      const lines = this.#current().map(
        ({ name, uid, resourceVersion }) => `configmaps ${this.#namespace}/${name} ${uid} ${resourceVersion}`,
      );
      await writeFile(versionsFile, `${lines.join('\n')}\n`);
    }
    const sorted = this.#durationsMs.toSorted((a, b) => a - b);
    return {
      acknowledged: this.acknowledged,
      failures: this.#failures,
      faults,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      longestMs: sorted.at(-1)!,
      longestPauseMs: this.#longestPauseMs,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await this.#client.close();
  }

  async #prepare(): Promise<void> {
    const namespace = this.#namespace;
    await this.#client.create(Namespace, { metadata: { name: namespace } });
    for (let at = 0; at < counterCount; at++) {
      const name = `counter-${at}`;
      const sentMs = performance.now();
      const object = await this.#client.create(ConfigMap, { metadata: { namespace, name }, data: { value: '0' } });
      const version = this.#acknowledge(object, sentMs);
      this.#counters.push({ name, version, value: 0, isUnknown: false, isBusy: false });
    }
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all(this.#inFlight);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const startedMs = performance.now();
    for (let number = 0; !signal.aborted; number++) {
      const waitMs = startedMs + (number * 1_000) / this.#perSecond - performance.now();
      if (waitMs > 1) await delay(waitMs, undefined, { signal }).catch(() => {});
      // Requests that wait for a hold do not stop the others, up to the limit.
      while (this.#inFlight.size >= inFlightMax && !signal.aborted) await Promise.race(this.#inFlight);
      if (signal.aborted) return;
      const write = this.#write(number).finally(() => this.#inFlight.delete(write));
      this.#inFlight.add(write);
    }
  }

  async #write(number: number): Promise<void> {
    const counter = number % 3 === 2 ? this.#counters.find(({ isBusy }) => !isBusy) : undefined;
    const fromMs = performance.now();
    try {
      await (counter ? this.#increment(counter) : this.#create(`w-${number}`));
    } catch (error) {
      const { message } = asError(error);
      this.#failures.set(message, (this.#failures.get(message) ?? 0) + 1);
      if (counter) await this.#afterFailure(counter, error);
      else this.#unknown.add(`w-${number}`);
      return;
    } finally {
      this.#durationsMs.push(performance.now() - fromMs);
    }
  }

  async #create(name: string): Promise<void> {
    const object = { metadata: { namespace: this.#namespace, name }, data: { name } };
    const sentMs = performance.now();
    this.#created.set(name, this.#acknowledge(await this.#client.create(ConfigMap, object), sentMs));
  }

  async #increment(counter: Counter): Promise<void> {
    counter.isBusy = true;
    try {
      const { name, version, value } = counter;
      const { resourceVersion } = version;
      const object = {
        metadata: { namespace: this.#namespace, name, resourceVersion },
        data: { value: String(value + 1) },
      };
      const sentMs = performance.now();
      counter.version = this.#acknowledge(await this.#client.update(ConfigMap, object), sentMs);
      counter.value++;
      counter.isUnknown = false;
    } finally {
      counter.isBusy = false;
    }
  }

  /** Reads the counter as soon as the server answers. */
  async #afterFailure(counter: Counter, error: unknown): Promise<void> {
    if (!hasCode(error, 'Conflict')) counter.isUnknown = true;
    else if (!counter.isUnknown) this.#counterFaults.push(`${counter.name}: changed by another write`);
    counter.isBusy = true;
    try {
      const { signal } = this.#stopping;
      while (!signal.aborted) {
        try {
          return await this.#read(counter);
        } catch {
          await delay(100, undefined, { signal }).catch(() => {});
        }
      }
    } finally {
      counter.isBusy = false;
    }
  }

  async #read(counter: Counter): Promise<void> {
    const object = await this.#client.get(ConfigMap, { namespace: this.#namespace, name: counter.name });
    const value = Number(object.data?.['value']);
    if (value !== counter.value && value !== counter.value + 1) {
      this.#counterFaults.push(`${counter.name}: ${value} after a failed increment of ${counter.value}`);
    }
    counter.value = value;
    counter.version = versionOf(object);
  }

  #acknowledge(object: ConfigMap, sentMs: number): Version {
    const nowMs = performance.now();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, nowMs - this.#lastMs);
    this.#recent.pauseMs = Math.max(this.#recent.pauseMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    const version = versionOf(object);
    this.#versions.push({ ...version, sentMs, acknowledgedMs: nowMs });
    return version;
  }

  #current(): Version[] {
    return [...this.#created.values(), ...this.#counters.map(({ version }) => version)];
  }

  async #faults(): Promise<string[]> {
    const { items } = await this.#client.list(ConfigMap, { namespace: this.#namespace });
    const stored = new Map(items.map((object) => [object.metadata.name!, object]));
    const faults: string[] = [];
    for (const wanted of this.#current()) {
      const object = stored.get(wanted.name);
      stored.delete(wanted.name);
      const found = object && versionOf(object);
      if (found?.uid === wanted.uid && found.resourceVersion === wanted.resourceVersion) continue;
      faults.push(`${wanted.name}: acknowledged ${shown(wanted)}, stored ${found ? shown(found) : 'nothing'}`);
    }
    for (const name of stored.keys()) {
      if (name.startsWith('w-') && !this.#unknown.has(name)) faults.push(`${name}: stored, but not written`);
    }
    for (const { name, value } of this.#counters) {
      const found = items.find(({ metadata }) => metadata.name === name)?.data?.['value'];
      if (found !== String(value)) faults.push(`${name}: ${value} increments, but its value is ${found}`);
    }
    return [...faults, ...this.#repeated()];
  }

  /** Two acknowledged writes never have one resourceVersion. */
  #repeated(): string[] {
    const seen = new Set<string>();
    return this.#versions.flatMap(({ name, resourceVersion }) => {
      if (seen.has(resourceVersion)) return [`${name}: resourceVersion ${resourceVersion} was acknowledged twice`];
      seen.add(resourceVersion);
      return [];
    });
  }
}

const versionOf = ({ metadata }: ConfigMap): Version => ({
  name: metadata.name!,
  uid: metadata.uid!,
  resourceVersion: metadata.resourceVersion!,
});

const shown = ({ uid, resourceVersion }: Version): string => `uid ${uid} resourceVersion ${resourceVersion}`;
