/**
 * `hangar controller-manager --engine=essential`: virtual control planes whose controllers the platform runs until they are registered,
 * then this process, then the platform again. Pausing this process shows which of them does the work: its own clusters make no progress
 * then.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { Ground } from './testing/ground.ts';
import { grant } from './testing/identity.ts';
import { ControllerManager } from './testing/manager.ts';
import { rightsFor } from './testing/rights.ts';
import {
  collectGarbage,
  deleteNamespace,
  endNamespace,
  makeNamespace,
  namespaceGone,
  staysThere,
} from './testing/work.ts';

const names = ['one', 'two', 'three', 'four', 'five'] as const;
const user = 'essential-controller-manager';
/** For the platform's set and this one: a namespace is deleted in milliseconds. */
const standsStillMs = 1_500;

describe('the essential controllers of registered control planes', () => {
  const opened = new AsyncDisposableStack();
  const clients = new Map<string, Client>();
  let ground: Ground;
  let manager: ControllerManager;

  before(async () => {
    ground = opened.use(await Ground.start());
    await Promise.all(names.map((name) => ground.up.create(name)));
    for (const name of names) clients.set(name, await ground.up.inside(name));
  });
  after(() => opened.disposeAsync());

  const inEach = (act: (client: Client, name: string) => Promise<unknown>): Promise<unknown> =>
    Promise.all(names.map((name) => act(clients.get(name)!, name)));

  test('are the platform’s until a controller manager has them', async () => {
    await inEach((client) => deleteNamespace(client, 'before'));
    const secrets = await Promise.all(names.map((name) => ground.register(name)));
    const identity = await ground.identity(user);
    await grant(ground.client, user, rightsFor({ engine: 'essential', secrets }));
    manager = opened.use(
      await ControllerManager.start({
        kubeconfig: identity.kubeconfig,
        peer: 'essential',
        workFolder: join(ground.folder, 'work'),
        flags: ['--engine=essential', '--leader-elect=false'],
      }),
    );
    await Promise.all(names.map((name) => ground.served(name)));
    const rows = await manager.clusters();
    assert.deepEqual(rows.map(({ name }) => name).sort(), [...names].sort());
    assert.deepEqual(manager.managers(), [], 'no process is needed for them');
  });

  test('do their work in each', async () => {
    await inEach(async (client) => {
      await makeNamespace(client, 'work');
      await Promise.all([collectGarbage(client, 'work'), endNamespace(client, 'ending')]);
    });
  });

  test('are this process’s alone: while it stands still, nothing happens', async () => {
    await inEach((client) => client.create(Namespace, { metadata: { name: 'waiting' } }));
    manager.signal('SIGSTOP');
    try {
      await inEach((client) => client.delete(Namespace, { name: 'waiting' }));
      await inEach((client) => staysThere(client, 'waiting', standsStillMs));
    } finally {
      manager.signal('SIGCONT');
    }
    await inEach((client) => namespaceGone(client, 'waiting'));
  });

  test('are the platform’s again when the registration is gone', async () => {
    await ground.unregister('one');
    await ground.isThePlatforms('one');
    manager.signal('SIGSTOP');
    try {
      await deleteNamespace(clients.get('one')!, 'after');
    } finally {
      manager.signal('SIGCONT');
    }
    assert.equal(await manager.cluster('one'), undefined);
  });

  test('come back after a crash of this process', async () => {
    await manager.end('SIGKILL');
    await clients.get('two')!.create(Namespace, { metadata: { name: 'meanwhile' } });
    await clients.get('two')!.delete(Namespace, { name: 'meanwhile' });
    manager = opened.use(await ControllerManager.start(manager.options));
    await namespaceGone(clients.get('two')!, 'meanwhile');
  });

  test('end in good order, and nothing was refused', async () => {
    assert.equal((await manager.end('SIGTERM')).code, 0, manager.log.slice(-2_000));
    const own = (await ground.audit.read()).filter((one) => one.user === user);
    assert.ok(own.length > 0);
    assert.deepEqual(
      own.filter(({ code }) => code === 401 || code === 403),
      [],
    );
  });
});
