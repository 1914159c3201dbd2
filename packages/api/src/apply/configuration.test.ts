import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaOf } from '../builtin/schemas.ts';
import { mergeTypeOfBuiltin } from './builtin-type.ts';
import { mergeConfiguration } from './configuration.ts';

const pod = mergeTypeOfBuiltin(schemaOf('v1', 'Pod')!);
const live = { metadata: { name: 'a', labels: { x: 'y' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

test('what is named is laid over the object, and neither is changed', () => {
  const before = structuredClone(live);
  const patch = { metadata: { labels: { z: '1' } }, spec: { containers: [{ name: 'c', tty: true }, { name: 'd' }] } };
  assert.deepEqual(mergeConfiguration(pod, live, patch), {
    object: {
      metadata: { name: 'a', labels: { x: 'y', z: '1' } },
      spec: { containers: [{ name: 'c', image: 'i', tty: true }, { name: 'd' }] },
    },
  });
  assert.deepEqual(live, before);
});

test('what would be replaced as a whole is refused with its path', () => {
  const patch = { spec: { nodeSelector: { a: 'b' }, containers: [{ name: 'c', args: ['x'] }] } };
  assert.equal(
    mergeConfiguration(pod, live, patch).problem,
    'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.nodeSelector, .spec.containers[0].args',
  );
});

test('what the type does not know is refused', () => {
  assert.equal(
    mergeConfiguration(pod, live, { spec: { nothing: 1 } }).problem,
    'failed to convert patch object to typed object: .spec.nothing: field not declared in schema',
  );
  const twice = { spec: { containers: [{ name: 'c' }, { name: 'c' }] } };
  assert.match(mergeConfiguration(pod, live, twice).problem ?? '', /\.spec\.containers: duplicate entries for key/);
});
