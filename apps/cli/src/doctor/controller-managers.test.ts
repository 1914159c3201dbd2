import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestCluster } from '@hangar/testkit';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ControlPlaneRegistration } from '../kinds.ts';
import { condition, makePlane } from '../testing/plain-operator.ts';
import { openTestWorld } from '../testing/test-session.ts';

test('hangar doctor warns of registered services that no controller manager runs', async () => {
  await using world = await openTestWorld();
  await using cluster = await startTestCluster({ listen: true });
  await writeFile(join(world.folder, '.data', 'admin.kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
  const { client } = world;
  await makePlane(client, 'demo');
  const spec = { controlPlaneRef: { name: 'demo' }, services: ['controllers', 'scheduler'] };
  await client.create(ControlPlaneRegistration, { metadata: { name: 'demo' }, spec });
  const say = (status: string, reason: string) =>
    client.status.patch(
      ControlPlaneRegistration,
      { name: 'demo' },
      { type: 'merge', body: { status: { conditions: [condition('ControllersReady', status, reason)] } } },
    );
  await say('True', 'Ready');
  const served = await world.run('doctor');
  assert.match(served.out, /^✔ controllers: 1 registered, all ready$/m);
  assert.match(served.out, /^! scheduler: no controller manager serves them: demo$/m);
  await say('Unknown', 'ControllerManagerLost');
  const lost = await world.run('doctor');
  assert.match(lost.out, /^! controllers: ControllerManagerLost: demo$/m);
});
