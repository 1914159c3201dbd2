/** Probes real servers over sockets. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { ClusterConfig } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { startTestFleet, testAuthority, virtualClock } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { Probe } from './probe.ts';
import type { Complaint } from './probe.ts';

const signal = new AbortController().signal;

describe('a probe', () => {
  let fleet: TestFleet;
  let config: ClusterConfig;

  before(async () => {
    fleet = await startTestFleet({ clusters: ['east'], listen: true });
    config = await configOfKubeconfig(fleet.kubeconfigOf('east'));
  });
  after(() => fleet[Symbol.asyncDispose]());

  async function ask(asked: ClusterConfig): Promise<Complaint> {
    const probe = new Probe({ config: asked, path: '/readyz', userAgent: 'test/1', clock: systemClock, connect });
    try {
      return await probe.ask(signal);
    } finally {
      await probe.close();
    }
  }

  test('has nothing to say of a control plane below a path that knows the credentials', async () => {
    assert.equal(await ask(config), undefined);
  });

  test('tells credentials that are not known', async () => {
    const complaint = await ask({ ...config, credentials: { headers: () => ({ authorization: 'Bearer wrong' }) } });
    assert.equal(complaint?.reason, 'Unauthorized');
    assert.ok(!complaint.message.includes('wrong'));
  });

  test('tells what cannot be reached, or is somebody else', async () => {
    assert.deepEqual(await ask({ ...config, server: 'https://127.0.0.1:1' }), {
      reason: 'Unreachable',
      message: 'https://127.0.0.1:1 cannot be reached: connection refused',
    });
    const stranger = await ask({ ...config, ca: testAuthority().certificate });
    assert.match(stranger!.message, /unknown authority/);
    const nonsense = await ask({ ...config, proxyUrl: 'http://' });
    assert.equal(nonsense?.reason, 'Unreachable');
  });

  test('does not wait for who says nothing, nor after it was told to end', async (context) => {
    const silent = createServer().unref().listen(0, '127.0.0.1');
    context.after(() => silent.close());
    await once(silent, 'listening');
    const clock = virtualClock();
    const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const options = { config: { server }, path: '/readyz', userAgent: 'test/1', connect };
    const probe = new Probe({ ...options, clock });
    const connected = once(silent, 'connection');
    const asked = probe.ask(signal);
    await connected;
    await clock.advance(5_000);
    assert.match((await asked)!.message, /does not answer within 5 s/);
    const ending = new AbortController();
    const ended = probe.ask(ending.signal);
    ending.abort();
    await assert.rejects(ended, { code: 'Aborted' });
    await assert.rejects(probe.ask(ending.signal), { code: 'Aborted' });
    await probe.close();
  });
});
