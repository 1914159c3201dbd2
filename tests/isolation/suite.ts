/** The isolation suite: the same cases on every driver. */

import { after, before, describe } from 'node:test';
import type { Store } from '@hangar/store';
import { copyCases } from './cases/copies.ts';
import { credentialCases } from './cases/credentials.ts';
import { hostCases } from './cases/hosts.ts';
import { servedCases } from './cases/served-and-counted.ts';
import { tenantNameCases } from './cases/tenant-names.ts';
import { whoIsWhoCases } from './cases/who-is-who.ts';
import { nameCases } from './cases/names.ts';
import { pointingCases } from './cases/pointing-across.ts';
import { replayCases } from './cases/replay.ts';
import { lifeCases } from './cases/life.ts';
import { revelationCases } from './cases/revelations.ts';
import { connectionCases } from './cases/connections.ts';
import { randomCases } from './cases/random-operations.ts';
import { World } from './testing/world.ts';

export interface Driver {
  /** A new store, with nothing in it. */
  open(): Promise<{ readonly store: Store; close(): Promise<void> }>;
  /** Number of runs of random operations. Default: 25. */
  readonly randomRuns?: number;
}

const all = [
  credentialCases,
  whoIsWhoCases,
  nameCases,
  tenantNameCases,
  replayCases,
  pointingCases,
  servedCases,
  lifeCases,
  hostCases,
  revelationCases,
  connectionCases,
  copyCases,
];

export function isolation(name: string, driver: Driver): void {
  describe(name, () => {
    let world: World;
    let close: () => Promise<void>;
    before(async () => {
      const opened = await driver.open();
      close = opened.close;
      world = await World.open(opened.store);
    });
    after(async () => {
      await world?.[Symbol.asyncDispose]();
      await close?.();
    });
    for (const cases of all) cases(() => world);
    randomCases(() => world, driver.randomRuns ?? 25);
  });
}
