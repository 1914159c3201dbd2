/** Everything that there is now, in pages, as of one version. */

import type { ApiObject } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Source } from './source.ts';

const pageLength = 500;

export interface Listed {
  readonly resourceVersion: string;
}

/** `keep` is called for each object as it comes. Calls `restart` when the pages have to be begun anew. */
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
    // The first page's version was compacted away before the last one was asked for: who is too slow for pages takes it at once.
    if (from === undefined || !hasCode(error, 'Expired')) throw error;
  }
  restart();
  const all = await source.list({ signal });
  all.items.forEach(keep);
  return all;
}
