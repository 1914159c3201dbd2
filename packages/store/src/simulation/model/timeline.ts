/**
 * The model of one universe: every state that it was in, by revision. Deliberately naive, a list of versions for each key, so that it is
 * obviously correct.
 *
 *     versions   a → 3: entry, 7: absent, 9: entry        at(a, 8) is absent, at(a, 9) the last entry
 */

import type { Entry, KeyRange, LeaseId, Revision, Write } from '../../contract.ts';
import { compareKeys, inRange } from '../../keys.ts';

export interface Change {
  readonly key: string;
  /** Undefined: the key was deleted. */
  readonly entry: Entry | undefined;
  readonly previous: Entry | undefined;
}

interface Version {
  readonly revision: number;
  readonly entry: Entry | undefined;
}

export class Timeline {
  readonly #base: ReadonlySet<Entry>;
  readonly #versions = new Map<string, Version[]>();
  #keys: string[] = [];
  /** The transactions that changed this universe, in order. */
  readonly changes: { readonly revision: Revision; readonly changes: readonly Change[] }[] = [];
  readonly #byRevision = new Map<Revision, readonly Change[]>();

  constructor(base: readonly Entry[]) {
    this.#base = new Set(base);
    for (const entry of base) this.#versionsOf(entry.key).push({ revision: entry.modRevision, entry });
  }

  at(key: string, revision: number): Entry | undefined {
    return this.#versions.get(key)?.findLast((version) => version.revision <= revision)?.entry;
  }

  now(key: string): Entry | undefined {
    return this.at(key, Infinity);
  }

  range(range: KeyRange, revision: number): Entry[] {
    const entries: Entry[] = [];
    for (const key of this.#keys) {
      const entry = inRange(key, range) ? this.at(key, revision) : undefined;
      if (entry) entries.push(entry);
    }
    return entries;
  }

  leased(id: LeaseId): string[] {
    return this.#keys.filter((key) => this.now(key)?.lease === id);
  }

  isBase(entry: Entry): boolean {
    return this.#base.has(entry);
  }

  changesAt(revision: Revision): readonly Change[] | undefined {
    return this.#byRevision.get(revision);
  }

  /** Returns the conditions of a transaction that do not hold at a revision, with the current entries. */
  conflicts(writes: readonly Write[], revision: number): { key: string; entry: Entry | undefined }[] {
    const failed: { key: string; entry: Entry | undefined }[] = [];
    for (const write of writes) {
      if (write.type === 'deleteRange' || write.expected === undefined) continue;
      const entry = this.at(write.key, revision);
      if (write.expected !== (entry?.modRevision ?? 0)) failed.push({ key: write.key, entry });
    }
    return failed;
  }

  /** Returns the effect of a transaction on the state of a revision, if it gets the number `revision`. */
  effect(writes: readonly Write[], revision: Revision, stateOf: number = Infinity): Change[] {
    const changes: Change[] = [];
    for (const write of writes) {
      if (write.type === 'put') changes.push(this.#put(write, revision, stateOf));
      else if (write.type === 'delete')
        changes.push({ key: write.key, entry: undefined, previous: this.at(write.key, stateOf) });
      else if (write.type === 'deleteRange') {
        for (const previous of this.range(write.range, stateOf))
          changes.push({ key: previous.key, entry: undefined, previous });
      }
    }
    return changes.filter((change) => change.entry ?? change.previous);
  }

  deletion(keys: readonly string[]): Change[] {
    return keys.map((key) => ({ key, entry: undefined, previous: this.now(key) }));
  }

  apply(revision: Revision, changes: readonly Change[]): void {
    for (const { key, entry } of changes) this.#versionsOf(key).push({ revision, entry });
    this.changes.push({ revision, changes });
    this.#byRevision.set(revision, changes);
  }

  #put(write: Write & { type: 'put' }, revision: Revision, stateOf: number): Change {
    const previous = this.at(write.key, stateOf);
    // The first change of a base entry creates an own entry, which begins there.
    const replaced = previous && !this.isBase(previous) ? previous : undefined;
    const revisions = write.restored ?? {
      createRevision: replaced?.createRevision ?? revision,
      modRevision: revision,
      version: (replaced?.version ?? 0) + 1,
    };
    const entry: Entry = { key: write.key, value: write.value, ...revisions, lease: write.lease };
    return { key: write.key, entry, previous };
  }

  #versionsOf(key: string): Version[] {
    let versions = this.#versions.get(key);
    if (!versions) {
      this.#versions.set(key, (versions = []));
      this.#keys = [...this.#keys, key].sort(compareKeys);
    }
    return versions;
  }
}

/** Returns the difference; undefined if the entries are equal. */
export function difference(told: Entry | undefined, real: Entry | undefined, keysOnly = false): string | undefined {
  if (!told || !real) return told === real ? undefined : `${describe(told)} instead of ${describe(real)}`;
  const same =
    told.key === real.key &&
    told.createRevision === real.createRevision &&
    told.modRevision === real.modRevision &&
    told.version === real.version &&
    told.lease === real.lease &&
    (keysOnly ? told.value.length === 0 : Buffer.compare(told.value, real.value) === 0);
  return same ? undefined : `${describe(told)} instead of ${describe(real)}`;
}

function describe(entry: Entry | undefined): string {
  if (!entry) return 'nothing';
  const { key, createRevision, modRevision, version, lease, value } = entry;
  const text = Buffer.from(value).toString().slice(0, 12);
  return `${key} (created ${createRevision}, changed ${modRevision}, version ${version}, lease ${lease ?? 'none'}, '${text}')`;
}
