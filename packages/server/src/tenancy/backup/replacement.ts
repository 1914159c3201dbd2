/**
 * Replaces all data of a tenant by other entries. Either all of it is replaced or the old data stays, also if the server is killed:
 *
 *     begin        mark (Staging). The tenant serves.
 *     stage        entries are written outside of the range of the tenant. Each transaction is conditional on the mark.
 *     startSwitch  one transaction: `next` in the identity, mark (Switching). From here on the replacement is completed, by any server.
 *                  The changed identity fences off all open views; requests are refused.
 *     copy         the differences between the staged entries and the range are written to the range, conditional on the identity
 *     finish       one transaction: the identity becomes `next`, mark (Complete). The tenant serves the new data.
 *     clean        the staged entries and the mark are deleted
 *
 * The revision of the last identity is higher than all revisions that clients of the old data have seen, and it is the fence of all reads:
 * a watch or a list from an earlier revision gets 410. Entries that are equal before and after keep their revision.
 */

import { conflict, StatusError } from '@hangar/api';
import { hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { absent, prefixRange, successor } from '@hangar/store';
import type { Entry, Revision, Store, Write } from '@hangar/store';
import { timestamp } from '../../verbs/metadata.ts';
import { decodeIdentity, encodeIdentity } from '../identity.ts';
import type { TenantIdentity } from '../identity.ts';
import { identityKey, keysKey, restoreMarkKey, stagedPrefix, tenantPrefix } from '../layout.ts';
import { tenantsName } from '../tenant.ts';
import { keysName } from './contents.ts';
import { differences } from './differences.ts';
import { transactions } from './transactions.ts';

export interface ReplacementWorld {
  readonly store: Store;
  readonly storePrefix: string;
  readonly clock: Clock;
}

export interface Mark {
  readonly phase: 'Staging' | 'Switching' | 'Complete';
  /** RFC 3339. */
  readonly since: string;
}

/** Number of transactions that are sent before the first one is acknowledged. */
const transactionsInFlightMax = 4;
/** Number of keys that one transaction deletes at most, so that writes of other tenants do not wait for long. */
const deletedKeysMax = 1_000;
/** While a server copies, it writes the mark at this interval, which shows other servers that it is alive. */
const markIntervalMs = 1_000;

export const decodeMark = ({ value }: Entry): Mark => JSON.parse(Buffer.from(value).toString()) as Mark;

export class Replacement {
  readonly path: string;
  readonly #world: ReplacementWorld;
  readonly #markKey: string;
  readonly #identityKey: string;
  /** Revision of the mark while staging. */
  #mark: Revision;
  /** Revision of the identity while switching. */
  #fence: Revision;

  private constructor(world: ReplacementWorld, path: string, revisions: { mark: Revision; fence: Revision }) {
    this.path = path;
    this.#world = world;
    this.#markKey = restoreMarkKey(world.storePrefix, path);
    this.#identityKey = identityKey(tenantPrefix(world.storePrefix, path));
    this.#mark = revisions.mark;
    this.#fence = revisions.fence;
  }

  /** Takes over from an earlier replacement that is still staging. Throws 503 if one is switching. */
  static async begin(world: ReplacementWorld, path: string): Promise<Replacement> {
    const key = restoreMarkKey(world.storePrefix, path);
    const { entry } = await world.store.get(key);
    if (entry && decodeMark(entry).phase === 'Switching') throw restoring(path);
    const value = encodeMark(world, 'Staging');
    const result = await world.store.commit([{ type: 'put', key, value, expected: entry?.modRevision ?? absent }]);
    if (!result.committed) throw taken(path);
    const replacement = new Replacement(world, path, { mark: result.revision, fence: absent });
    await replacement.#deleteStaged(replacement.#isStaging());
    return replacement;
  }

  /**
   * Continues a replacement that another server started to switch. That server can no longer write. Returns undefined if `identity` or
   * `mark` is no longer current.
   */
  static async takeOver(
    world: ReplacementWorld,
    path: string,
    { identity, mark }: { readonly identity: Entry; readonly mark: Entry | undefined },
  ): Promise<Replacement | undefined> {
    const key = restoreMarkKey(world.storePrefix, path);
    const value = encodeMark(world, 'Switching');
    const result = await world.store.commit([
      { type: 'put', key: identity.key, value: identity.value, expected: identity.modRevision },
      { type: 'put', key, value, expected: mark?.modRevision ?? absent },
    ]);
    return result.committed ? new Replacement(world, path, { mark: absent, fence: result.revision }) : undefined;
  }

  /** Stages writes to keys below `stagedPrefix`. Throws 409 if another restore took over, or the tenant was deleted. */
  async stage(writes: readonly Write[]): Promise<void> {
    const result = await this.#world.store.commit([...writes, this.#isStaging()]);
    if (!result.committed) throw taken(this.path);
  }

  /** Deletes the staged entries. If that fails, the mark stays, and a later restore of the tenant cleans up. */
  async abandon(): Promise<void> {
    try {
      await this.#deleteStaged(this.#isStaging());
      await this.#world.store.commit([{ type: 'delete', key: this.#markKey, expected: this.#mark }]);
    } catch {
      // The error that ended the restore is reported.
    }
  }

  /** Returns false if the tenant changed since its entries were read. `checks`: further conditions. */
  async startSwitch(identity: Entry, next: TenantIdentity, checks: readonly Write[]): Promise<boolean> {
    const value = encodeIdentity({ ...decodeIdentity(identity.value), next });
    const result = await this.#world.store.commit([
      { type: 'put', key: identity.key, value, expected: identity.modRevision },
      { type: 'put', key: this.#markKey, value: encodeMark(this.#world, 'Switching'), expected: this.#mark },
      ...checks,
    ]);
    if (result.committed) this.#fence = result.revision;
    else if (result.conflicts.some(({ key }) => key === this.#markKey)) throw taken(this.path);
    return result.committed;
  }

  /** Writes the differences to the range of the tenant. Can be repeated. Throws 503 if another server took over. */
  async copy(): Promise<void> {
    const stopMarking = this.#keepMarking();
    try {
      for (;;) {
        try {
          return await this.#copyOnce();
        } catch (error) {
          // The pages are read at one revision, and the copy took longer than the history window. The rest is smaller.
          if (!hasCode(error, 'Compacted')) throw error;
        }
      }
    } finally {
      await stopMarking();
    }
  }

  #keepMarking(): () => Promise<void> {
    const { clock } = this.#world;
    let marking: Promise<unknown> = Promise.resolve();
    const mark = (): void => {
      const alive: Write = { type: 'put', key: this.#markKey, value: encodeMark(this.#world, 'Switching') };
      // A failure is noticed by the copy.
      marking = this.#commitSwitching([alive]).catch(() => undefined);
      timer = clock.after(markIntervalMs, mark);
    };
    let timer = clock.after(markIntervalMs, mark);
    return async () => {
      timer.cancel();
      await marking;
    };
  }

  async #copyOnce(): Promise<void> {
    const { store, storePrefix } = this.#world;
    const inFlight = new Set<Promise<void>>();
    const failures: unknown[] = [];
    const prefixes = { staged: stagedPrefix(storePrefix, this.path), own: tenantPrefix(storePrefix, this.path) };
    try {
      for await (const writes of transactions(differences(store, prefixes))) {
        if (inFlight.size >= transactionsInFlightMax) await Promise.race(inFlight);
        if (failures.length > 0) break;
        const commit = this.#commitSwitching(writes).catch((error: unknown) => void failures.push(error));
        const sent = commit.then(() => void inFlight.delete(sent));
        inFlight.add(sent);
      }
    } finally {
      await Promise.all(inFlight);
    }
    if (failures.length > 0) throw failures[0];
  }

  async #commitSwitching(writes: readonly Write[]): Promise<void> {
    const result = await this.#world.store.commit([...writes, this.#isSwitching()]);
    if (!result.committed) throw restoring(this.path);
  }

  /** Makes the new data visible. Throws 503 if another server took over. */
  async finish(): Promise<void> {
    const { store, storePrefix } = this.#world;
    const { entry: identity } = await store.get(this.#identityKey);
    const next = identity && decodeIdentity(identity.value).next;
    if (identity?.modRevision !== this.#fence || !next) throw restoring(this.path);
    const { entry: keys } = await store.get(`${stagedPrefix(storePrefix, this.path)}${keysName}`);
    const prefix = tenantPrefix(storePrefix, this.path);
    const result = await store.commit([
      { type: 'put', key: this.#identityKey, value: encodeIdentity(next), expected: this.#fence },
      { type: 'put', key: this.#markKey, value: encodeMark(this.#world, 'Complete') },
      ...(keys ? [{ type: 'put', key: keysKey(prefix), value: keys.value } as const] : []),
    ]);
    if (!result.committed) throw restoring(this.path);
    this.#mark = result.revision;
  }

  /** Deletes the staged entries and the mark. If it is interrupted, the next restore of the tenant continues it. */
  clean(): Promise<void> {
    return this.abandon();
  }

  #isStaging(): Write {
    return { type: 'check', key: this.#markKey, expected: this.#mark };
  }

  #isSwitching(): Write {
    return { type: 'check', key: this.#identityKey, expected: this.#fence };
  }

  async #deleteStaged(condition: Write): Promise<void> {
    const { store, storePrefix } = this.#world;
    const range = prefixRange(stagedPrefix(storePrefix, this.path));
    for (;;) {
      const { entries, more } = await store.range(range, { limit: deletedKeysMax, keysOnly: true });
      if (entries.length === 0) return;
      const end = successor(entries.at(-1)!.key);
      const result = await store.commit([{ type: 'deleteRange', range: { start: range.start, end } }, condition]);
      if (!result.committed) throw taken(this.path);
      if (!more) return;
    }
  }
}

/** Returns the writes that remove an unfinished restore together with its tenant, or the condition that there is none. */
export async function withoutReplacement({ store, storePrefix }: Omit<ReplacementWorld, 'clock'>, path: string) {
  const key = restoreMarkKey(storePrefix, path);
  const { entry } = await store.get(key);
  if (!entry) return [{ type: 'check', key, expected: absent }] satisfies Write[];
  return [
    { type: 'delete', key, expected: entry.modRevision },
    { type: 'deleteRange', range: prefixRange(stagedPrefix(storePrefix, path)) },
  ] satisfies Write[];
}

const encodeMark = ({ clock }: Pick<ReplacementWorld, 'clock'>, phase: Mark['phase']): Buffer =>
  Buffer.from(JSON.stringify({ phase, since: timestamp(clock) } satisfies Mark));

export const restoring = (path: string): StatusError =>
  new StatusError('ServiceUnavailable', `control plane "${path}" is being restored, please try again`, {
    details: { retryAfterSeconds: 1 },
  });

const taken = (path: string): Error =>
  conflict(tenantsName, path, 'another request restores this tenant, or it was deleted');
