import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import type { Pod } from '@hangar/client/kinds/core-v1';
import { virtualClock } from '@hangar/testkit';
import { PodTokens } from './tokens.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'team', name: 'web', uid: 'u' },
  spec: { serviceAccountName: 'builder', containers: [] },
};

test('a token is bound to its pod, and renewed after 80 % of its time', async () => {
  const clock = virtualClock();
  const requests: { key: object; body: { spec: Record<string, unknown> } }[] = [];
  const client = {
    subresource: (name: string) => ({
      create: async (_kind: object, key: object, body: { spec: Record<string, unknown> }) => {
        assert.equal(name, 'token');
        requests.push({ key, body });
        const expirationTimestamp = new Date(clock.now() + 1_000_000).toISOString();
        return { status: { token: `token-${requests.length}`, expirationTimestamp } };
      },
    }),
  } as unknown as Client;
  const tokens = new PodTokens(client, clock);
  const projection = { path: 'token', audience: 'vault', expirationSeconds: 1_000 };
  assert.equal(await tokens.token(pod, projection), 'token-1');
  assert.deepEqual(requests[0]!.key, { namespace: 'team', name: 'builder' });
  assert.deepEqual(requests[0]!.body.spec, {
    audiences: ['vault'],
    expirationSeconds: 1_000,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u' },
  });
  await clock.advance(799_000);
  assert.equal(await tokens.token(pod, projection), 'token-1');
  await clock.advance(2_000);
  assert.equal(await tokens.token(pod, projection), 'token-2');
  // Another audience has its own token.
  assert.equal(await tokens.token(pod, { path: 'token' }), 'token-3');
  tokens.forget(pod);
  assert.equal(await tokens.token(pod, projection), 'token-4');
});
