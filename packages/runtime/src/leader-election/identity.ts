/** Identities of candidates: `host_uuid`, as in client-go. A restarted process has a new one. */

import { hostname } from 'node:os';
import { systemRandom, uuid } from '@hangar/core';
import type { Random } from '@hangar/core';

/** Returns a unique identity: `host_uuid`. */
export const newIdentity = (random: Random = systemRandom, host: string = hostname()): string =>
  `${host}_${uuid(random)}`;
