/**
 * `node packages/cel/src/cel.bench.ts`: measures evaluations per second of typical rules of CustomResourceDefinitions, each on one core,
 * after warming up; and the time to compile one.
 */

import { cpuTime } from '@hangar/core/testing';
import { compile, kubernetesEnvironment, schemaType } from './index.ts';
import type { StructuralSchema } from './index.ts';

const schema: StructuralSchema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    maxReplicas: { type: 'integer' },
    name: { type: 'string', maxLength: 63 },
    ratio: { type: 'number' },
    ports: {
      type: 'array',
      maxItems: 100,
      items: { type: 'object', properties: { name: { type: 'string', maxLength: 15 }, port: { type: 'integer' } } },
    },
    labels: { type: 'object', maxProperties: 64, additionalProperties: { type: 'string', maxLength: 63 } },
  },
};

const self = {
  replicas: 3,
  maxReplicas: 10,
  name: 'frontend-of-something',
  ratio: 0.5,
  ports: Array.from({ length: 20 }, (_, index) => ({ name: `port-${index}`, port: 8000 + index })),
  labels: { app: 'frontend', tier: 'web' },
};

const rules = [
  'self.replicas <= self.maxReplicas',
  "has(self.name) && self.name.startsWith('front') && size(self.name) < 63",
  "self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
  "'app' in self.labels && self.labels['app'] == 'frontend'",
  'self.ports.all(p, p.port > 0 && p.port < 65536)',
  'self.ports.all(p, self.ports.exists_one(q, p.name == q.name))',
  'self.ports.map(p, p.port).isSorted()',
  'self.ratio > 0.0 && self.ratio <= 1.0',
  "quantity('100m').isLessThan(quantity('1'))",
];

const budgetMs = Number(process.argv[2] ?? 500);
const env = kubernetesEnvironment({ self: schemaType(schema)!, oldSelf: schemaType(schema)! });
const bindings = { self };

/** Runs per second of processor time, measured for about the budget: load from elsewhere does not matter. */
function rate(run: () => void): number {
  for (let index = 0; index < 200; index++) run();
  const takenMs = cpuTime();
  let runs = 0;
  while (takenMs() < budgetMs) {
    for (let index = 0; index < 100; index++) run();
    runs += 100;
  }
  return (runs / takenMs()) * 1000;
}

for (const rule of rules) {
  const program = compile(rule, env);
  const { cost } = program.evaluate(bindings);
  const evaluations = rate(() => program.evaluate(bindings));
  const compilations = rate(() => compile(rule, env));
  console.log(
    `${Math.round(evaluations).toLocaleString('en-US').padStart(12)} evaluations/s  ` +
      `${Math.round(compilations).toLocaleString('en-US').padStart(8)} compilations/s  cost ${String(cost).padStart(5)}  ${rule}`,
  );
}
