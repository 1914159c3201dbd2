/** Flags of the memory of caches. */

import { defaultCacheBytesMax } from '@hangar/server';
import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

export const memoryFlags = {
  'cache-memory': { type: 'string', default: `${defaultCacheBytesMax / 1024 ** 2}Mi` },
} as const;

export const memoryHelp: HelpGroup = {
  title: 'Memory',
  rows: [
    [
      '--cache-memory SIZE',
      'memory for cached objects of all control planes, such as 512Mi or 2Gi; lists of objects that are not cached are read from the store (default: 256Mi; 0: no cache)',
    ],
  ],
};

const units: Readonly<Record<string, number>> = { '': 1, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };

/** Returns bytes. Throws a UsageError for an invalid size. */
export function cacheBytes({ 'cache-memory': text }: { readonly 'cache-memory': string }): number {
  const [, digits, unit = ''] = /^(\d{1,15})(Ki|Mi|Gi|Ti)?$/.exec(text) ?? [];
  const bytes = Number(digits) * units[unit]!;
  if (digits === undefined || !Number.isSafeInteger(bytes)) {
    throw new UsageError(`--cache-memory: "${text}" is not a size such as 256Mi`);
  }
  return bytes;
}
