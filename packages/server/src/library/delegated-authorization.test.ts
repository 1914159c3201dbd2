import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { ClusterClient } from './cluster-client.ts';
import { AccessReviews } from './delegated-authorization.ts';

test('an answer is remembered, unless its question is long', async () => {
  for (const [length, expected] of [
    [10, 1],
    [1_001, 2],
  ] as const) {
    let asked = 0;
    const create = async () => ({ status: { allowed: true, count: ++asked } });
    const reviews = new AccessReviews({ create } as unknown as ClusterClient, systemClock);
    const path = `/${'x'.repeat(length)}`;
    for (let at = 0; at < 2; at++) {
      const user = { name: 'jane', uid: '', groups: [], extra: {} };
      const { decision } = await reviews.authorize(user, { isResource: false, verb: 'get', path });
      assert.equal(decision, 'allow');
    }
    assert.equal(asked, expected, `${length} characters`);
  }
});
