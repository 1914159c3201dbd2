/** The fields for users and `kubectl`. The protocol reads the annotations. */

import type { Lease } from './leases.ts';

export interface LeaseSpecOptions {
  readonly holder: string;
  readonly leaseMs: number;
  readonly wallMs: number;
}

export const leaseSpec = ({ holder, leaseMs, wallMs }: LeaseSpecOptions): NonNullable<Lease['spec']> => ({
  holderIdentity: holder,
  leaseDurationSeconds: Math.max(1, Math.ceil(leaseMs / 1_000)),
  renewTime: microTime(wallMs),
});

/** `MicroTime` of meta v1 has six digits. */
const microTime = (wallMs: number): string => new Date(wallMs).toISOString().replace('Z', '000Z');
