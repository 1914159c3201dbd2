/**
 * Completes replacements of the data of tenants after the switch has started: those of this server, and those that another server, or an
 * earlier process, did not complete. A replacement whose mark does not change for a while is taken over; the transactions of its former
 * server fail from then on.
 */

import { asError, sleep } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Entry } from '@hangar/store';
import { decodeIdentity } from '../identity.ts';
import { identityKey, restoreMarkKey, restoreMarksPrefix, tenantPrefix } from '../layout.ts';
import { decodeMark, Replacement } from './replacement.ts';
import type { ReplacementWorld } from './replacement.ts';

export interface ReplacementsOptions extends ReplacementWorld {
  readonly onError: (error: Error) => void;
  /** Closes the tenant on this server if its data is being replaced. */
  readonly closeReplaced: (path: string) => Promise<void>;
  /** Aborted when the server closes. */
  readonly closed: AbortSignal;
}

/** A replacement whose switch has started. */
interface Switching {
  readonly identity: Entry;
  readonly mark: Entry | undefined;
}

const isSame = (one: Entry | undefined, other: Entry | undefined): boolean => one?.modRevision === other?.modRevision;

/** A server that completes a replacement writes the mark several times per second. */
const staleMs = 5_000;
const marksMax = 1_000;

export class Replacements {
  readonly #options: ReplacementsOptions;
  readonly #watched = new Set<string>();
  /** One takeover at a time. */
  #queue: Promise<void> = Promise.resolve();

  constructor(options: ReplacementsOptions) {
    this.#options = options;
  }

  /** Finds replacements that an earlier process did not complete. */
  async start(): Promise<void> {
    const { store, storePrefix } = this.#options;
    const prefix = restoreMarksPrefix(storePrefix);
    const { entries } = await store.range(prefixRange(prefix), { limit: marksMax });
    for (const entry of entries) {
      if (decodeMark(entry).phase === 'Switching') this.noticed(entry.key.slice(prefix.length));
    }
  }

  /** Completes a replacement that this server switched. If that fails, it is continued in the background. */
  async complete(replacement: Replacement): Promise<void> {
    try {
      await this.#run(replacement);
    } catch (error) {
      this.noticed(replacement.path);
      throw error;
    }
  }

  /** Called when the data of the tenant is being replaced. Takes over when the server that does it stopped. */
  noticed(path: string): void {
    if (this.#watched.has(path) || this.#options.closed.aborted) return;
    this.#watched.add(path);
    void this.#watch(path).finally(() => this.#watched.delete(path));
  }

  async #watch(path: string): Promise<void> {
    const { clock, closed, onError } = this.#options;
    for (let before: Switching | undefined; !closed.aborted;) {
      try {
        const now = await this.#state(path);
        if (!now) return;
        const isStale = now.identity.modRevision === before?.identity.modRevision && isSame(now.mark, before.mark);
        if (isStale && (await this.#takenOver(path, now))) return;
        before = now;
      } catch (error) {
        onError(asError(error));
      }
      await sleep(clock, staleMs, closed).catch(() => undefined);
    }
  }

  /** Returns undefined if no data of the tenant is being replaced. */
  async #state(path: string): Promise<Switching | undefined> {
    const { store, storePrefix } = this.#options;
    const [{ entry: identity }, { entry: mark }] = await Promise.all([
      store.get(identityKey(tenantPrefix(storePrefix, path))),
      store.get(restoreMarkKey(storePrefix, path)),
    ]);
    return identity && decodeIdentity(identity.value).next ? { identity, mark } : undefined;
  }

  /** Returns false if the replacement changed meanwhile. */
  #takenOver(path: string, state: Switching): Promise<boolean> {
    const taken = this.#queue.then(async () => {
      if (this.#options.closed.aborted) return true;
      const replacement = await Replacement.takeOver(this.#options, path, state);
      if (replacement) await this.#run(replacement);
      return replacement !== undefined;
    });
    this.#queue = taken.then(
      () => undefined,
      () => undefined,
    );
    return taken;
  }

  async #run(replacement: Replacement): Promise<void> {
    await this.#options.closeReplaced(replacement.path);
    await replacement.copy();
    await replacement.finish();
    await replacement.clean();
  }
}
