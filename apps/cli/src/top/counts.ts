/**
 * Counts of the shown tenants: requested one by one, and again only for those that were written to since. When all tenants are counted, the
 * counts come with the sample.
 */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { Tenant } from '../kinds.ts';
import type { TenantObject } from '../kinds.ts';
import type { TenantUsage } from '../control-planes/about.ts';
import type { TopRow } from './rows.ts';

interface Known {
  readonly uid: string;
  readonly writes: number;
  readonly objects: number;
  readonly storedBytes: number;
}

const atOnceMax = 8;

export class Counts {
  readonly #client: Client;
  readonly #known = new Map<string, Known>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the rows with the cached counts, possibly stale: they decide the order. */
  remembered(rows: readonly TopRow[]): TopRow[] {
    for (const row of rows) this.#learn(row);
    return rows.map((row) => this.#filled(row));
  }

  /** Returns the rows with their counts, and without where they are unavailable. */
  async of(rows: readonly TopRow[], signal: AbortSignal): Promise<TopRow[]> {
    const asked = rows.filter((row) => !this.#isFresh(row));
    for (let at = 0; at < asked.length; at += atOnceMax) {
      await Promise.all(asked.slice(at, at + atOnceMax).map((row) => this.#ask(row, signal)));
    }
    return rows.map((row) => this.#filled(row));
  }

  #filled(row: TopRow): TopRow {
    const known = this.#known.get(row.name);
    return known?.uid === row.uid ? { ...row, objects: known.objects, storedBytes: known.storedBytes } : row;
  }

  #isFresh({ name, uid, writes }: TopRow): boolean {
    const known = this.#known.get(name);
    return known?.uid === uid && known.writes === writes;
  }

  #learn({ name, uid, writes, objects, storedBytes }: TopRow): void {
    if (objects !== undefined && storedBytes !== undefined)
      this.#known.set(name, { uid, writes, objects, storedBytes });
  }

  async #ask({ name, uid, writes }: TopRow, signal: AbortSignal): Promise<void> {
    try {
      const { status } = await this.#client
        .subresource('usage')
        .get<TenantUsage, TenantObject>(Tenant, { name }, { signal });
      this.#known.set(name, { uid, writes, objects: status?.objects ?? 0, storedBytes: status?.storedBytes ?? 0 });
    } catch (error) {
      if (!hasCode(error, 'NotFound')) throw error;
      this.#known.delete(name);
    }
  }
}
