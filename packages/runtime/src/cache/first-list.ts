/** Lists all objects in pages, at one version. */

import type { ApiObject } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Source } from './source.ts';

const pageLength = 500;

export interface Listed {
  readonly resourceVersion: string;
}

/** Calls `keep` for each object as it arrives, and `restart` when the list starts again from the first page. */
export async function listAll<T extends ApiObject>(
  source: Source<T>,
  { keep, restart, signal }: { keep: (object: T) => void; restart: () => void; signal: AbortSignal },
): Promise<Listed> {
  let from: string | undefined;
  try {
    for (;;) {
      const page = await source.list({ limit: pageLength, signal, ...(from === undefined ? {} : { continue: from }) });
      page.items.forEach(keep);
      from = page.continue;
      if (from === undefined) return page;
    }
  } catch (error) {
    // The version of the first page was compacted before the last page was read. Lists without pages instead.
    if (from === undefined || !hasCode(error, 'Expired')) throw error;
  }
  restart();
  const all = await source.list({ signal });
  all.items.forEach(keep);
  return all;
}
