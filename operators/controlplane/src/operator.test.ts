import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ControlPlane } from './api/index.ts';
import { startTestPlatform } from './testing/platform.ts';
import { untilReady } from './testing/until.ts';

test('of namespaces, Secrets and ConfigMaps only the operator’s own are ever listed or watched', async () => {
  await using platform = await startTestPlatform();
  const asked: string[] = [];
  const { transportOf } = platform.fleet;
  platform.fleet.transportOf = (...args) => {
    const transport = transportOf.apply(platform.fleet, args);
    return {
      ...transport,
      request(request) {
        asked.push(`${request.method} ${decodeURIComponent(request.target)}`);
        return transport.request(request);
      },
      close: () => transport.close(),
    };
  };
  platform.start();
  await platform.client.create(ControlPlane, { metadata: { name: 'a' }, spec: {} });
  await untilReady(platform.client, 'a');
  const lists = asked.filter((one) =>
    /^GET \/api\/v1\/(namespaces\/[^/]+\/)?(namespaces|secrets|configmaps)\?/.test(one),
  );
  assert.ok(lists.length >= 3, asked.join('\n'));
  for (const one of lists) assert.match(one, /labelSelector=controlplane\.kplane\.dev\//, one);
  for (const one of lists.filter((list) => list.includes('configmaps')))
    assert.match(one, /namespaces\/kplane-system\//);
});
