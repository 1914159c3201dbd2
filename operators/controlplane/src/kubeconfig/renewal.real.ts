/** Credentials never expire, although nothing else happens for months. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint } from '../api/index.ts';
import { expiresAtMs, renewsAtMs } from '../control-plane/kept-secret.ts';
import { adminOf } from '../testing/admin.ts';
import { LeapingClock } from '../testing/leaping-clock.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { untilReady } from '../testing/until.ts';

const dayMs = 86_400_000;

for (const [model, lifeMs] of [
  ['token', dayMs],
  ['certificate', 30 * dayMs],
] as const) {
  test(`for ninety days a kubeconfig with a ${model} is good, without any event`, async () => {
    const clock = new LeapingClock();
    await using platform = await startTestPlatform({ clock });
    const { client } = platform;
    platform.start();
    const key = { namespace: 'kplane-cp-demo', name: 'controlplane-demo-kubeconfig' };
    await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec: { auth: { model } } });
    // A join endpoint requires that the join credentials are renewed, too.
    const joinEndpoint = model === 'token' ? 'https://join.example' : '';
    const spec = { endpoint: 'https://a.example', ...(joinEndpoint === '' ? {} : { joinEndpoint }) };
    await client.create(ControlPlaneEndpoint, { metadata: { name: 'front' }, spec });
    await client.create(ControlPlane, {
      metadata: { name: 'demo' },
      spec: { classRef: { name: 'gold' }, endpointRef: { name: 'front' } },
    });
    await untilReady(client, 'demo');
    const [seen, tokens] = [new Set<string>(), new Set<string>()];
    const end = clock.now() + 90 * dayMs;
    while (clock.now() < end) {
      const secret = await client.get(Secret, key);
      const join = await client.get(Secret, { ...key, name: 'controlplane-demo-join' });
      seen.add(secret.data!['kubeconfig']!);
      tokens.add(join.data!['token']!);
      assert.ok(expiresAtMs(secret) - clock.now() > lifeMs / 6, 'there is always a sixth of its life left');
      // Advances to the next renewal.
      const next = model === 'token' ? [secret, join] : [secret];
      await clock.leap(Math.min(...next.map(renewsAtMs)) - clock.now() + 1000);
    }
    const admin = await adminOf(platform, await client.get(Secret, key), 'demo', 'kubeconfig', clock);
    await admin.list(ConfigMap, { namespace: 'default' });
    // Neither too rarely nor more often than necessary.
    const isAbout = (count: number, expected: number): boolean =>
      count >= expected * 0.95 && count <= expected * 1.05 + 1;
    const expected = 90 / ((lifeMs / dayMs) * 0.775);
    assert.ok(isAbout(seen.size, expected), `${seen.size} kubeconfigs, expected about ${expected}`);
    if (model === 'token')
      assert.ok(isAbout(tokens.size, expected), `${tokens.size} tokens, expected about ${expected}`);
  });
}
