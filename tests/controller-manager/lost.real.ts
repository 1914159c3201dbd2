/** A controller manager that is killed or stopped: its conditions expire, and the platform's essential controllers serve until it returns. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Ground } from './testing/ground.ts';
import { grant } from './testing/identity.ts';
import { ControllerManager } from './testing/manager.ts';
import { rightsFor } from './testing/rights.ts';
import { endNamespace } from './testing/work.ts';

const user = 'lost-controller-manager';
/** From the last renewal to the takeover. */
const expiryMaxMs = 30_000;

describe('a controller manager that no longer runs', () => {
  const opened = new AsyncDisposableStack();
  let ground: Ground;
  let inside: Client;
  let manager: ControllerManager;

  before(async () => {
    ground = opened.use(await Ground.start());
    await ground.up.create('one');
    inside = await ground.up.inside('one');
    const secrets = [await ground.register('one')];
    const identity = await ground.identity(user);
    await grant(ground.client, user, rightsFor({ engine: 'essential', secrets, isShared: true }));
    manager = opened.use(
      await ControllerManager.start({
        kubeconfig: identity.kubeconfig,
        peer: 'lost',
        workFolder: join(ground.folder, 'work'),
        flags: ['--engine=essential'],
      }),
    );
    await ground.served('one');
    await ground.isHandedOver('one');
  });
  after(() => opened.disposeAsync());

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`after ${signal} is reported as lost within 30 s, and the platform serves until it returns`, async () => {
      await manager.end(signal);
      const endedMs = performance.now();
      await ground.lost('one');
      assert.ok(performance.now() - endedMs < expiryMaxMs, `${performance.now() - endedMs} ms`);
      await ground.isThePlatforms('one');
      await endNamespace(inside, `ended-after-${signal.toLowerCase()}`);
      manager = opened.use(await ControllerManager.start(manager.options));
      await ground.isHandedOver('one');
      await ground.served('one');
      await endNamespace(inside, `back-after-${signal.toLowerCase()}`);
    });
  }
});
