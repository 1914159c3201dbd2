import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schemaOf } from '../builtin/schemas.ts';
import { mergeTypeOfBuiltin } from './builtin-type.ts';
import { compareObjects } from './compare.ts';
import type { FieldSet } from './field-set.ts';
import { everyField } from './fields-of.ts';

const type = mergeTypeOfBuiltin(schemaOf('v1', 'Pod')!);
const pod = (image: string, label: string, container = 'web'): Record<string, unknown> => ({
  metadata: { labels: { [label]: 'x' } },
  spec: { containers: [{ name: container, image, ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
});

test('objects with the same fields share one set', () => {
  assert.equal(everyField(type, pod('a', 'app')), everyField(type, pod('b', 'app')));
});

test('objects with other keys or other items have sets of their own', () => {
  const texts = [pod('a', 'app'), pod('a', 'tier'), pod('a', 'app', 'proxy'), pod('a', 'app')].map((one) =>
    JSON.stringify(everyField(type, one)),
  );
  assert.match(texts[0]!, /"f:labels":\{"\.":\{\},"f:app":\{\}\}/);
  assert.match(texts[1]!, /"f:labels":\{"\.":\{\},"f:tier":\{\}\}/);
  assert.match(texts[2]!, /"k:\{\\"name\\":\\"proxy\\"\}"/);
  assert.equal(texts[3], texts[0]);
});

test('a part of another type with the same keys keeps its own fields', () => {
  const { changed } = compareObjects(type, { spec: { containers: null } }, { spec: { containers: [{ name: 'a' }] } });
  const whole = everyField(type, { spec: { containers: [{ name: 'a' }] } });
  const containers = (set: FieldSet): FieldSet => set['f:spec']!['f:containers']!;
  assert.deepEqual(Object.keys(containers(changed)), ['k:{"name":"a"}']);
  assert.deepEqual(Object.keys(containers(whole)), ['.', 'k:{"name":"a"}']);
});

test('a shared set cannot be changed', () => {
  const set = everyField(type, pod('a', 'app')) as Record<string, unknown>;
  assert.throws(() => (set['f:other'] = {}), TypeError);
});

test('sets are the same after many objects with different fields', () => {
  const before = JSON.stringify(everyField(type, pod('a', 'app')));
  for (let i = 0; i < 20_000; i++) everyField(type, pod('a', `label-${i}`, `container-${i}`));
  assert.equal(JSON.stringify(everyField(type, pod('a', 'app'))), before);
});

test('a set of very many keys is not shared', () => {
  const labels = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key-${i}`, 'x']));
  const object = { metadata: { labels } };
  assert.notEqual(everyField(type, object), everyField(type, object));
  assert.deepEqual(everyField(type, object), everyField(type, object));
});
