/** Claims of devices: how many claims, and how many devices of each class they ask for at most. */

import type { KubeObject } from '../../object.ts';
import { addInto, count, raiseInto } from '../amounts.ts';
import type { MutableAmounts } from '../amounts.ts';
import type { List } from '../pod.ts';
import { neverInScope } from './evaluator.ts';
import type { Evaluator } from './evaluator.ts';

interface Wanted {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

interface DeviceClaim extends KubeObject {
  spec?: { devices?: { requests?: List<{ exactly?: Wanted | null; firstAvailable?: List<Wanted> } & Wanted> } };
}

const countOfClaims = 'count/resourceclaims.resource.k8s.io';
const byClass = '.deviceclass.resource.k8s.io/devices';
/** As many as one claim can ever get. */
const allDevices = 32;

export const deviceClaimEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  counts: (name) => name === countOfClaims || name.endsWith(byClass),
  usage(object) {
    const usage: MutableAmounts = new Map([[countOfClaims, count(1)]]);
    for (const request of (object as DeviceClaim).spec?.devices?.requests ?? []) {
      const most: MutableAmounts = new Map();
      // Older versions have the one wish in the request itself.
      const wishes = request.firstAvailable?.length ? request.firstAvailable : [request.exactly ?? request];
      for (const wish of wishes) {
        if (wish.deviceClassName) raiseInto(most, new Map([[wish.deviceClassName + byClass, count(devicesOf(wish))]]));
      }
      addInto(usage, most);
    }
    return usage;
  },
  matchesScope: neverInScope,
};

const devicesOf = (wanted: Wanted): number =>
  wanted.allocationMode === 'All' ? allDevices : wanted.allocationMode === 'ExactCount' ? (wanted.count ?? 0) : 0;
