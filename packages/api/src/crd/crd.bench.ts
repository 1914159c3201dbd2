/** Measures the processing of a custom resource: `node packages/api/src/crd/crd.bench.ts`. */

import type { KubeObject } from '../object.ts';
import { compileVersion, definitionConditions, definitionStrategy, noNamesTaken } from './index.ts';
import { gadgets } from './testing/definitions.ts';

const object: KubeObject = {
  apiVersion: 'test.example.com/v1',
  kind: 'Gadget',
  metadata: { name: 'one', namespace: 'default', labels: { app: 'bench' } },
  spec: {
    name: 'abcdef',
    replicas: 3,
    ratio: 1.25,
    mode: 'on',
    port: 8080,
    when: '2026-01-01T00:00:00Z',
    address: '10.0.0.1',
    id: '12345678-1234-1234-1234-123456789abc',
    tags: ['alpha', 'beta', 'gamma'],
    ports: [
      { number: 80, protocol: 'TCP', label: 'http' },
      { number: 443, protocol: 'TCP', label: 'https' },
      { number: 53, protocol: 'UDP', label: 'dns' },
    ],
    labels: { a: 'b', c: 'd' },
    free: { anything: { goes: 'here', and: ['more', 'of', 'it'] }, text: 'x'.repeat(300) },
    either: { a: 'x' },
    nested: { depth: { value: 1 }, list: [{ on: true }, {}] },
    low: 1,
    high: 2,
    title: 'a good title',
    steps: ['s1', 's2'],
  },
};

function measure(name: string, count: number, run: () => void): void {
  for (let i = 0; i < count / 4; i++) run();
  // CPU time: steadier than the clock on a busy machine.
  const start = process.cpuUsage();
  for (let i = 0; i < count; i++) run();
  const { user, system } = process.cpuUsage(start);
  const micros = (user + system) / count;
  console.log(`${name.padEnd(48)} ${micros.toFixed(2).padStart(9)} µs`);
}

const text = JSON.stringify(object);
console.log(`an object of ${text.length} bytes`);
const firstStart = performance.now();
const fresh = structuredClone(gadgets);
definitionStrategy.applyDefaults(fresh);
definitionStrategy.prepareForCreate(fresh);
const errors = definitionStrategy.validateCreate(fresh);
const status = definitionConditions(fresh, noNamesTaken, '2026-01-01T00:00:00Z');
const version = compileVersion({ ...fresh, status } as KubeObject, 'v1')!;
const { strategy } = version;
const created = performance.now();
const first = JSON.parse(text) as KubeObject;
version.decode(first);
strategy.applyDefaults(first);
strategy.prepareForCreate(first);
errors.push(...strategy.validateCreate(first));
console.log(
  `cold: definition ${(created - firstStart).toFixed(1)} ms, its first object ${(performance.now() - created).toFixed(1)} ms, ${errors.length} errors`,
);

const parsed = (): KubeObject => JSON.parse(text) as KubeObject;
measure('JSON.parse alone', 20_000, parsed);
measure('+ decode (metadata, prune, nulls, embedded)', 20_000, () => version.decode(parsed()));
measure('+ prune only', 20_000, () => version.prune(parsed()));
measure('+ defaults', 20_000, () => strategy.applyDefaults(parsed()));
measure('validateCreate', 20_000, () => strategy.validateCreate(first));
const old = structuredClone(first);
measure('validateUpdate', 20_000, () => strategy.validateUpdate(first, old, ''));
measure('all of a creation, with parsing', 20_000, () => {
  const one = parsed();
  version.decode(one);
  strategy.applyDefaults(one);
  strategy.prepareForCreate(one);
  strategy.validateCreate(one);
});
measure('a definition: defaults, validation, compilation', 200, () => {
  const crd = structuredClone(gadgets);
  definitionStrategy.applyDefaults(crd);
  definitionStrategy.prepareForCreate(crd);
  definitionStrategy.validateCreate(crd);
  compileVersion(crd, 'v1')!.decode(parsed());
});
