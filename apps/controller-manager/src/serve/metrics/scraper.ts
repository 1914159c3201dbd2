/**
 * Merges our own metrics and those of all processes that we run. Concurrent requests share a scrape. Bounded in time and memory: a process
 * that does not answer, answers too much or is malformed is left out, and `hangar_controller_manager_scrape_up` reports it.
 */

import { serviceUnavailable } from '@hangar/api/status';
import { asError, attempted, breathe, eachAtOnce, hasCode, orAborted } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { ClusterRow, ServiceProcess } from '../../contract.ts';
import { ServeError } from '../errors.ts';
import { labelPair, readExposition } from './exposition.ts';
import type { Exposition } from './exposition.ts';
import { MergedExposition } from './merged.ts';
import type { Scrape } from './scrape.ts';
import { scrapeUpText, targetsOf } from './targets.ts';
import type { Target } from './targets.ts';

export interface ScraperOptions {
  readonly rows: () => Iterable<ClusterRow>;
  readonly ownMetrics: () => string | Promise<string>;
  readonly scrape: Scrape;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Our families are reserved: those of processes with the same prefix are dropped. */
const isReserved = (family: string): boolean => family.startsWith('hangar_controller_manager_');

/** Per process. */
const timeoutMs = 5_000;
/** In total: Prometheus gives up after ten seconds by default. */
const allTimeoutMs = 8_000;
const atOnceMax = 32;
/** Per process. */
const bytesMax = 8 * 1024 * 1024;
const allBytesMax = 128 * 1024 * 1024;
/** A kube-controller-manager has some thousands, in some hundreds of families. */
const linesMax = 100_000;
const familiesMax = 5_000;
/** Most processes have the same families. */
const allFamiliesMax = 20_000;
/** Distinct scrapes: a Prometheus may scrape each cluster separately. */
const underWayMax = 128;

const tooMuch = (): Error => serviceUnavailable('too many concurrent scrapes, or the server is shutting down');

const tooMuchOfAll = (): ServeError =>
  new ServeError('ScrapeFailed', 'the total size of all metrics exceeds the limit');

function lessen(left: number, by: number): number {
  if (by > left) throw tooMuchOfAll();
  return left - by;
}

export class Scraper {
  readonly #options: ScraperOptions;
  /** By the requested clusters. */
  readonly #underWay = new Map<string, Promise<MergedExposition>>();
  /** Processes that did not answer last time: they are scraped last. */
  readonly #silent = new WeakSet<ServiceProcess>();
  /** Scrapes in progress. */
  readonly #asked = new Set<AbortController>();
  #isClosed = false;

  constructor(options: ScraperOptions) {
    this.#options = options;
  }

  /** Scrapes all clusters, or only these. Rejects with ServiceUnavailable when too many scrapes are in progress, and when it is closed. */
  scrape(clusters?: ReadonlySet<string>): Promise<MergedExposition> {
    const key = clusters ? JSON.stringify([...clusters].sort()) : '';
    let scraped = this.#underWay.get(key);
    if (!scraped) {
      if (this.#underWay.size >= underWayMax || this.#isClosed) return Promise.reject(tooMuch());
      scraped = this.#scrapeAll(clusters).finally(() => this.#underWay.delete(key));
      this.#underWay.set(key, scraped);
    }
    return scraped;
  }

  close(): void {
    this.#isClosed = true;
    for (const one of this.#asked) one.abort();
  }

  async #scrapeAll(clusters: ReadonlySet<string> | undefined): Promise<MergedExposition> {
    const merged = new MergedExposition();
    const targets = targetsOf(this.#options.rows(), clusters);
    // First: our description of our families counts.
    await this.#addOwn(merged, clusters);
    const isUp = await this.#addTargets(merged, targets);
    if (this.#isClosed) throw tooMuch();
    merged.add(
      await readExposition(
        scrapeUpText(targets, (target) => isUp.has(target)),
        this.#giveWay,
      ),
      0,
    );
    return merged;
  }

  async #addOwn(merged: MergedExposition, clusters: ReadonlySet<string> | undefined): Promise<void> {
    const onlyWith = clusters && new Set(Array.from(clusters, (name) => labelPair('cluster', name)));
    try {
      const own = await this.#options.ownMetrics();
      merged.add(await readExposition(own, this.#giveWay, onlyWith ? { onlyWith } : {}), 0);
    } catch (error) {
      this.#options.log.error('failed to collect the metrics of the controller manager', { error: asError(error) });
    }
  }

  /** Returns the processes that answered. */
  async #addTargets(merged: MergedExposition, targets: readonly Target[]): Promise<ReadonlySet<Target>> {
    const { clock, log } = this.#options;
    const untilMs = clock.monotonicMs() + allTimeoutMs;
    const orders = new Map(targets.map((target, at) => [target, at + 1]));
    const isUp = new Set<Target>();
    let bytesLeft = allBytesMax;
    await eachAtOnce(atOnceMax, this.#silentLast(targets), async (target) => {
      const { cluster, service, process } = target;
      if (!process || this.#isClosed) return;
      try {
        const bytes = await this.#ask(process, { maxBytes: Math.min(bytesMax, bytesLeft), untilMs });
        bytesLeft = lessen(bytesLeft, bytes.length);
        const exposition = await this.#read(bytes, target, untilMs);
        bytesLeft = lessen(bytesLeft, Math.max(0, exposition.bytes.length - bytes.length));
        if (merged.familyCount + exposition.families.size > allFamiliesMax) throw tooMuchOfAll();
        merged.add(exposition, orders.get(target)!, isReserved);
        isUp.add(target);
        this.#silent.delete(process);
      } catch (error) {
        // Warns once: the next scrape will not be smaller.
        const level = hasCode(error, 'TooManyMetrics') && !this.#silent.has(process) ? 'warn' : 'debug';
        this.#silent.add(process);
        log[level]('skipped the metrics of a child process', { cluster, service, error: asError(error) });
      }
    });
    return isUp;
  }

  #read(bytes: Uint8Array, { cluster, service }: Target, untilMs: number): Promise<Exposition> {
    const giveWay = async (): Promise<void> => {
      await this.#giveWay();
      if (this.#options.clock.monotonicMs() > untilMs)
        throw new ServeError('ScrapeFailed', 'reading the metrics timed out');
    };
    const limits = { lines: linesMax, families: familiesMax, bytes: 2 * bytesMax };
    return readExposition(bytes, giveWay, { labels: { cluster, service }, limits });
  }

  readonly #giveWay = async (): Promise<void> => {
    await breathe(this.#options.clock);
    if (this.#isClosed) throw tooMuch();
  };

  async #ask(
    process: ServiceProcess,
    limits: { readonly maxBytes: number; readonly untilMs: number },
  ): Promise<Uint8Array> {
    const { clock, scrape } = this.#options;
    const asked = new AbortController();
    this.#asked.add(asked);
    const waitMs = Math.max(0, Math.min(timeoutMs, limits.untilMs - clock.monotonicMs()));
    const timer = clock.after(waitMs, () => asked.abort());
    try {
      const { signal } = asked;
      return await orAborted(
        attempted(() => scrape(process, { signal, maxBytes: limits.maxBytes })),
        signal,
      );
    } finally {
      timer.cancel();
      this.#asked.delete(asked);
    }
  }

  #silentLast(targets: readonly Target[]): Target[] {
    const isSilent = ({ process }: Target): boolean => process !== undefined && this.#silent.has(process);
    return [...targets.filter((target) => !isSilent(target)), ...targets.filter(isSilent)];
  }
}
