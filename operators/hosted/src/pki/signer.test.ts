import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { clusterSecretType } from '../api/index.ts';
import { isTrusted, previousData, signerOf } from './signer.ts';

const nowMs = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;
const world = { clock: { ...systemClock, now: () => nowMs }, random: systemRandom };
const [x, y] = [createAuthority('kubernetes', 10, world), createAuthority('kubernetes', 100, world)];

const previousSecret = (before: KeyPair, after: KeyPair): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'demo-ca-previous' },
  type: clusterSecretType,
  data: previousData('ca', before, after, world),
});

test('a rotation trusts both authorities until the previous one is dropped', () => {
  const states: [KeyPair, KeyPair | undefined, Secret | undefined][] = [
    [x, undefined, undefined],
    [x, y, undefined],
    // Interrupted in step 2: after the first, the second and the third write.
    [x, y, previousSecret(x, y)],
    [y, y, previousSecret(x, y)],
    [y, undefined, previousSecret(x, y)],
    [y, undefined, undefined],
  ];
  const [a, b] = [x.certificate, y.certificate];
  const seen = states.map((state) => signerOf(...state));
  assert.deepEqual(
    seen.map(({ trusted }) => trusted),
    [a, a + b, a + b, b + a, b + a, b],
  );
  assert.deepEqual(
    seen.map(({ next }) => next),
    [undefined, b, b, undefined, undefined, undefined],
  );
  assert.deepEqual(
    seen.map(({ chain }) => chain !== ''),
    [false, false, false, true, true, false],
  );
});

test('an authority with a key that is trusted, or after all trusted ones expired, is accepted', () => {
  assert.equal(isTrusted(x, x.certificate, nowMs), true);
  assert.equal(isTrusted(y, x.certificate, nowMs), false);
  assert.equal(isTrusted(y, x.certificate + y.certificate, nowMs), true);
  assert.equal(isTrusted(y, x.certificate, nowMs + 11 * dayMs), true, 'the only trusted one has expired');
});
