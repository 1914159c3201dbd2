/** When a tenant that blocks or ends the server is quarantined. */

import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';
import type { QuarantineLimits } from '@hangar/server/watchdog';

export const quarantineFlags = {
  'tenant-stalls-max': { type: 'string', default: '10' },
  'tenant-long-stalls-max': { type: 'string', default: '3' },
  'tenant-quarantine-minutes': { type: 'string', default: '10' },
} as const;

export const quarantineHelp: HelpGroup = {
  title: 'Quarantine',
  rows: [
    [
      '--tenant-stalls-max N',
      'how often within ten minutes requests of one tenant may block the server for more than 100 ms before the tenant is quarantined, if they block it for 30 s in total (default: 10)',
    ],
    [
      '--tenant-long-stalls-max N',
      'how often within ten minutes requests of one tenant may block the server for more than a second before the tenant is quarantined, if they block it for 10 s in total (default: 3)',
    ],
    [
      '--tenant-quarantine-minutes N',
      'how long the first quarantine of a tenant lasts; each further one lasts twice as long (default: 10; 0: no tenant is quarantined)',
    ],
  ],
};

type Values = { readonly [Name in keyof typeof quarantineFlags]: string };

/** Throws a UsageError, which names the flag. */
export const quarantineOptions = (values: Values): Partial<QuarantineLimits> => ({
  stallsMax: count(values, 'tenant-stalls-max', /^[1-9]\d{0,5}$/),
  longStallsMax: count(values, 'tenant-long-stalls-max', /^[1-9]\d{0,5}$/),
  durationMs: count(values, 'tenant-quarantine-minutes', /^\d{1,4}$/) * 60_000,
});

function count(values: Values, name: keyof Values, pattern: RegExp): number {
  if (!pattern.test(values[name])) throw new UsageError(`--${name}: "${values[name]}" is not a number`);
  return Number(values[name]);
}
