/**
 * Entries on their way into a range that is no tenant's yet. The range is marked first; each transaction is conditional on
 * the mark, and the last one, which makes the tenant, takes it away. So there is all of it or no tenant, whatever happens:
 *
 *     mark ── entries ── entries ── … ── identity, Tenant, no mark
 *       │                  └ crash: the mark tells whoever makes or restores a tenant here that all of this is nobody's
 *       └ another one's mark: it takes over, and the one before writes nothing more
 */

import { conflict } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Entry, Revision, Store, Write } from '@hangar/store';
import { identityKey, importKey } from '../layout.ts';
import { tenantsName } from '../tenant.ts';

export interface ImportOptions {
  readonly store: Store;
  readonly path: string;
  /** `/registry/clusters/<path>/`. */
  readonly prefix: string;
}

export class Import {
  readonly #options: ImportOptions;
  readonly #mark: Revision;

  private constructor(options: ImportOptions, mark: Revision) {
    this.#options = options;
    this.#mark = mark;
  }

  /** Throws 409 when something is there that is not what a crash left. */
  static async begin(options: ImportOptions): Promise<Import> {
    const { store, path, prefix } = options;
    const { entries } = await store.range(prefixRange(prefix), { limit: 1, keysOnly: true });
    const mark = (await store.get(importKey(prefix))).entry;
    if (entries.length > 0 && !mark) throw notEmpty(path);
    const result = await store.commit([
      { type: 'put', key: importKey(prefix), value: Buffer.from('{}'), expected: mark?.modRevision ?? absent },
      { type: 'check', key: identityKey(prefix), expected: absent },
      ...(mark ? leftoverDeletion(prefix, importKey(prefix)) : []),
    ]);
    if (!result.committed) throw taken(path);
    return new Import(options, result.revision);
  }

  /** Throws 409 when somebody else makes a tenant here. */
  async write(writes: readonly Write[]): Promise<void> {
    const { store, path, prefix } = this.#options;
    const check: Write = { type: 'check', key: importKey(prefix), expected: this.#mark };
    const result = await store.commit([...writes, check]);
    if (!result.committed) throw taken(path);
  }

  /** What goes with the writes that make the tenant. */
  end(): Write {
    return { type: 'delete', key: importKey(this.#options.prefix), expected: this.#mark };
  }

  /** Takes back what was written. What cannot be taken back now is found by its mark. */
  async abandon(): Promise<void> {
    const { store, prefix } = this.#options;
    await store
      .commit([
        { type: 'check', key: importKey(prefix), expected: this.#mark },
        { type: 'deleteRange', range: prefixRange(prefix) },
      ])
      .catch(() => undefined);
  }
}

/** Everything in a range but one key, which the same transaction writes. */
export function leftoverDeletion(prefix: string, except: string): Write[] {
  const { end } = prefixRange(prefix);
  return [
    { type: 'deleteRange', range: { start: prefix, end: except } },
    { type: 'deleteRange', range: { start: `${except}\0`, ...(end === undefined ? {} : { end }) } },
  ];
}

/** The writes by which a new tenant ends an import that was left, or none is under way. */
export const withoutImport = (prefix: string, mark: Entry | undefined): Write[] => [
  { type: 'check', key: importKey(prefix), expected: mark?.modRevision ?? absent },
  ...(mark ? leftoverDeletion(prefix, identityKey(prefix)) : []),
];

const notEmpty = (path: string): Error =>
  conflict(
    tenantsName,
    path,
    'retained data exists under this path: create the tenant to restore it, or destroy the data first',
  );

const taken = (path: string): Error =>
  conflict(tenantsName, path, 'another request is creating or restoring a tenant under this path');
