/** The flag for the ports of control planes with nodes. */

import { UsageError } from '@hangar/core/command-line';
import type { HelpRow } from '@hangar/core/command-line';

/** Both included. */
export interface PlanePortRange {
  readonly first: number;
  readonly last: number;
}

/** Below the node ports of Kubernetes, 30000-32767, and below the ephemeral ports of Linux. */
export const planePortFlags = { 'plane-port-range': { type: 'string', default: '7500-7999' } } as const;

export const planePortHelp: readonly HelpRow[] = [
  [
    '--plane-port-range FIRST-LAST',
    'ports for control planes with nodes, one for each; none: nodes use the path of their control plane (default: 7500-7999)',
  ],
];

/** Undefined: control planes with nodes get no port. Throws a UsageError. */
export function planePortRange(text: string): PlanePortRange | undefined {
  if (text === 'none') return undefined;
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || first < 1 || last > 65_535 || first > last) {
    throw new UsageError(`--plane-port-range: "${text}" is not a range of ports such as 7500-7999, or none`);
  }
  return { first, last };
}
