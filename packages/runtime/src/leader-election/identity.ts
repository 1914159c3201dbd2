/** Who contends: `host_uuid`, as client-go's electors call themselves. A process that starts again is another one. */

import { hostname } from 'node:os';
import { systemRandom, uuid } from '@hangar/core';
import type { Random } from '@hangar/core';

/** Returns a unique identity: `host_uuid`. */
export const newIdentity = (random: Random = systemRandom, host: string = hostname()): string =>
  `${host}_${uuid(random)}`;
