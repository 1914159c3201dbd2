/** Keys of every control plane of a fleet in the process of the test, including the management plane, with a serving CA of the test. */

import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, newPrivateKey } from '@hangar/pki';
import type { TestFleet } from '@hangar/testkit';
import { rootCluster } from '../contract.ts';
import type { ClusterKeys, ControllerWorld } from '../contract.ts';
import { testKeysOf } from './run-controllers.ts';

export interface FleetKeys {
  readonly of: ControllerWorld['keysOf'];
  /** CA of the port for clients. A test may change it. */
  servingCa: string;
  /** Number of calls for keys. */
  asked: number;
}

export function fleetKeys(fleet: TestFleet, servingCa = 'the CA'): FleetKeys {
  const world = { clock: systemClock, random: systemRandom };
  const root = {
    authority: createAuthority('root', 1, world),
    serviceAccountKey: newPrivateKey(),
    serviceAccountIssuer: 'https://root',
    url: 'https://root',
  };
  const keys: FleetKeys = {
    servingCa,
    asked: 0,
    async of(cluster): Promise<ClusterKeys> {
      keys.asked++;
      const own = cluster === rootCluster ? root : await testKeysOf(fleet, cluster);
      return { ...own, servingCa: keys.servingCa };
    },
  };
  return keys;
}
