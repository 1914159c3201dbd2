import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sortedNames } from './allowed-names.ts';

const allowed = (hostnameTemplate: string | undefined, ...names: string[]): readonly string[] => {
  const meta = { apiVersion: '', kind: '' };
  const gateway = hostnameTemplate === undefined ? {} : { hostnameTemplate };
  const controlPlane = { ...meta, metadata: { name: 'demo' }, spec: { endpointPolicy: { hostname: names[0]! } } };
  const sorted = sortedNames(names, controlPlane, { ...meta, metadata: { name: 'c' }, spec: { gateway } });
  assert.deepEqual([...sorted.allowed, ...sorted.others].sort(), [...names].sort(), 'none is lost');
  return sorted.allowed;
};

test('names in the domain of the template are allowed, and no others', () => {
  const inside = ['demo.planes.example', 'x.planes.example', 'x.y.planes.example'];
  const outside = [
    'planes.example',
    '.planes.example',
    'xplanes.example',
    'planes.example.evil',
    'demo.planes.example.',
  ];
  for (const template of ['{name}.planes.example', '{path}.{name}.planes.example', '{name}-dev.planes.example']) {
    assert.deepEqual(allowed(template, ...inside, ...outside), inside, template);
  }
});

test('a template without a domain allows what it makes of the control plane alone', () => {
  assert.deepEqual(allowed('api.{name}', 'other', 'api.demo', 'api.shop.example', 'demo'), ['api.demo']);
  assert.deepEqual(allowed('{name}-x', 'other-x', 'demo-x'), ['demo-x']);
  assert.deepEqual(allowed('hangar.example', 'x.example', 'hangar.example'), ['hangar.example']);
});

test('without a template all are allowed', () => {
  assert.deepEqual(allowed(undefined, 'a.example', 'b'), ['a.example', 'b']);
  assert.deepEqual(allowed('', 'a.example'), ['a.example']);
});
