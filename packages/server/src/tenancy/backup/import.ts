/**
 * Imports entries into a range that does not belong to a tenant yet. The first transaction writes a mark. All others are conditional on the
 * mark, and the last one creates the tenant and deletes the mark. So either the complete tenant exists or none:
 *
 *     mark ── entries ── entries ── … ── identity, Tenant, no mark
 *       │                  └ crash: by the mark, the next creation or restore at this path knows that the entries are garbage
 *       └ mark of another import: that import takes over, and this one can no longer write
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

  /** Throws 409 if the range contains anything but the remains of a crashed import. */
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

  /** Throws 409 if another request creates a tenant here. */
  async write(writes: readonly Write[]): Promise<void> {
    const { store, path, prefix } = this.#options;
    const check: Write = { type: 'check', key: importKey(prefix), expected: this.#mark };
    const result = await store.commit([...writes, check]);
    if (!result.committed) throw taken(path);
  }

  /** Returns the write that ends the import; commit it with those that create the tenant. */
  end(): Write {
    return { type: 'delete', key: importKey(this.#options.prefix), expected: this.#mark };
  }

  /** Deletes the written entries. If that fails, the mark stays, and a later import cleans up. */
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

/** Deletes everything in a range except one key, which the same transaction writes. */
export function leftoverDeletion(prefix: string, except: string): Write[] {
  const { end } = prefixRange(prefix);
  return [
    { type: 'deleteRange', range: { start: prefix, end: except } },
    { type: 'deleteRange', range: { start: `${except}\0`, ...(end === undefined ? {} : { end }) } },
  ];
}

/** Returns the writes by which a new tenant removes an abandoned import, or checks that no import is running. */
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
