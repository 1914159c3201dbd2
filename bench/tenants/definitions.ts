/** Measures the same definition in many tenants: it is parsed, compiled and documented once, so that memory does not grow with them. */

import { settled, footprint } from './footprint.ts';
import { Hangar } from './hangar.ts';
import { createTenants, write } from './load.ts';
import type { Step } from './load.ts';

export interface Definitions {
  readonly tenants: number;
  readonly few: number;
  /** Right after each tenant was written to, then when all are idle. */
  readonly fewBusyMiB: number;
  readonly fewMiB: number;
  readonly allBusyMiB: number;
  readonly allMiB: number;
}

const group = 'bench.example';

/** About as large as typical definitions: four dozen fields, lists, patterns, defaults and a rule. */
const fields = Object.fromEntries(
  Array.from({ length: 24 }, (_, n) => [
    `field${n}`,
    {
      type: 'object',
      description: `What is said of part ${n}, in a sentence of about the length that such sentences have.`,
      properties: {
        name: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
        sizes: { type: 'array', maxItems: 16, items: { type: 'integer', minimum: 0, maximum: 1000 } },
        mode: { type: 'string', enum: ['Always', 'Never', 'Sometimes'], default: 'Always' },
      },
      'x-kubernetes-validations': [{ rule: '!has(self.sizes) || size(self.sizes) <= 16', message: 'too many' }],
    },
  ]),
);

const custom: readonly Step[] = [
  {
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: fields } } },
            },
          },
        ],
      },
    },
    status: 201,
  },
  {
    method: 'POST',
    path: `/apis/${group}/v1/namespaces/default/widgets`,
    body: {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name: 'first' },
      spec: { field0: { name: 'a', sizes: [1, 2, 3] } },
    },
    status: 201,
  },
];

/** The same number and size of writes, without a definition. */
const plain: readonly Step[] = custom.map(({ body }, n) => ({
  method: 'POST',
  path: '/api/v1/namespaces/default/configmaps',
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `plain-${n}` }, data: { text: JSON.stringify(body) } },
  status: 201,
}));

export async function definitions(nodeFlags: readonly string[], tenants: number, few: number): Promise<Definitions> {
  const [fewBusyMiB, fewMiB] = await memoryWith(nodeFlags, tenants, few);
  const [allBusyMiB, allMiB] = await memoryWith(nodeFlags, tenants, tenants);
  return { tenants, few, fewBusyMiB, fewMiB, allBusyMiB, allMiB };
}

/** Two servers instead of one: the heap of a server does not shrink to its initial size. */
async function memoryWith(nodeFlags: readonly string[], tenants: number, defining: number): Promise<[number, number]> {
  return Hangar.use(nodeFlags, async (hangar) => {
    await createTenants(hangar, { count: tenants });
    await write(hangar, { count: defining }, custom);
    if (defining < tenants) await write(hangar, { from: defining, count: tenants - defining }, plain);
    const busy = (await footprint(hangar)).residentMiB;
    const { residentMiB } = await settled(hangar);
    console.log(
      `  the definition in ${defining} of ${tenants} tenants: ${busy.toFixed(0)} MiB right after, ${residentMiB.toFixed(0)} MiB idle`,
    );
    return [busy, residentMiB];
  });
}
