/** Who contends: `host_uuid`, as client-go's electors call themselves. A process that starts again is another one. */

import { hostname } from 'node:os';
import { systemRandom } from '@hangar/core';
import type { Random } from '@hangar/core';

export function newIdentity(random: Random = systemRandom, host: string = hostname()): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return `${host}_${parts.join('-')}`;
}
