/** Objects that match their schemas but make no sense: validation always returns. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '@hangar/core/testing';
import { schemaOf } from '../../builtin/schemas.ts';
import { applyDefaults } from '../../defaults/index.ts';
import { normalise } from '../../fields/normalise.ts';
import type { KubeObject } from '../../object.ts';
import { invalidObject } from '../../status/status.ts';
import { randomObject, seededRandom } from '../../testing/random-object.ts';
import { workloadValidations } from './index.ts';

const names = Object.keys(workloadValidations);

function kindOf(name: string): { apiVersion: string; kind: string } {
  const at = name.lastIndexOf('/');
  return { apiVersion: name.slice(0, at), kind: name.slice(at + 1) };
}

function randomOf(name: string, seed: number): KubeObject {
  const { apiVersion, kind } = kindOf(name);
  const object = randomObject(schemaOf(apiVersion, kind)!, seededRandom(seed));
  return { ...object, apiVersion, kind, metadata: (object['metadata'] ?? {}) as object } as KubeObject;
}

test('random objects of every kind get an answer', () => {
  let refused = 0;
  for (const name of names) {
    const { create, update, warnings } = workloadValidations[name]!;
    for (let seed = 1; seed <= 15; seed++) {
      const raw = randomOf(name, seed);
      const { apiVersion, kind } = raw;
      const prepared = normalise(schemaOf(apiVersion, kind)!, raw) as KubeObject;
      applyDefaults(prepared);
      const old = seed % 2 === 0 ? raw : prepared;
      for (const object of [raw, prepared]) {
        const errors = create(object);
        for (const subresource of ['', 'status', 'resize', 'ephemeralcontainers']) {
          errors.push(...update(object, old, subresource));
        }
        if (errors.length > 0) refused++;
        assert.equal(typeof invalidObject({ group: '', kind }, 'a', errors).status.message, 'string');
        assert.ok((warnings?.(object, undefined) ?? []).every((text) => typeof text === 'string'));
        warnings?.(object, old);
      }
    }
  }
  assert.ok(refused > 200, `${refused} refused`);
});

test('objects are not changed by being validated', () => {
  for (const name of names) {
    for (let seed = 100; seed < 110; seed++) {
      const object = randomOf(name, seed);
      const before = JSON.stringify(object);
      workloadValidations[name]!.create(object);
      workloadValidations[name]!.update(object, object, '');
      assert.equal(JSON.stringify(object), before);
    }
  }
});

test('what is expensive to say has a bound', () => {
  const pod = (fill: (i: number) => object): KubeObject =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'a', image: 'a', env: Array.from({ length: 10_000 }, (_, i) => fill(i)) }] },
    }) as KubeObject;
  const takenMs = cpuTime();
  const { update } = workloadValidations['v1/Pod']!;
  const errors = update(
    pod((i) => ({ name: `A${i % 7}`, value: 'x' })),
    pod((i) => ({ name: `A${i % 5}`, value: 'y' })),
    '',
  );
  assert.ok(errors.length > 0);
  assert.ok(takenMs() < 10_000);
});
