/** Custom resources of the sequences: one with many features of schemas, one with two versions, one that is cluster-scoped. */

import type { KubeObject } from '@hangar/api';
import { gadgets, plainGadgets } from '../../../../packages/api/src/crd/testing/definitions.ts';

const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 0, default: 3 },
        owners: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        parts: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
          items: {
            type: 'object',
            required: ['id'],
            properties: { id: { type: 'string' }, note: { type: 'string' }, kept: { type: 'boolean', default: true } },
          },
        },
        whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
        order: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
      'x-kubernetes-validations': [
        { rule: '!has(self.owners) || self.owners.all(o, o != "nobody")', message: 'nobody owns nothing' },
        { rule: 'self.size >= oldSelf.size', message: 'a widget does not shrink' },
      ],
    },
    status: { type: 'object', properties: { ready: { type: 'integer' }, selector: { type: 'string' } } },
  },
};

const version = (name: string, isStored: boolean): object => ({
  name,
  served: true,
  storage: isStored,
  schema: { openAPIV3Schema: widgetSchema },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.ready',
      labelSelectorPath: '.status.selector',
    },
  },
  selectableFields: [{ jsonPath: '.spec.size' }],
  additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
});

const widgets: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.test.example.com' },
  spec: {
    group: 'test.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [version('v1', true), { ...version('v1beta1', false), deprecated: true }],
  },
};

const realms: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'realms.test.example.com' },
  spec: {
    group: 'test.example.com',
    scope: 'Cluster',
    names: { plural: 'realms', kind: 'Realm' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

export const definitions: readonly KubeObject[] = [gadgets, plainGadgets, widgets, realms];

const gadgetSpecs = [
  { name: 'abc' },
  { name: 'abc', tags: ['a', 'b'], ports: [{ number: 1 }, { number: 1, protocol: 'UDP', label: 'x' }] },
  { name: 'abc', labels: { a: 'b' }, counts: { a: null, b: 2 }, free: { known: { a: 'x', z: 1 }, other: [1] } },
  { name: 'abc', low: 1, high: 2, title: 'fine', fixed: 'f', growing: 3, code: 'long enough', nested: { list: [{}] } },
  { name: 'abc', port: 80, mode: 'on', level: 2, flag: null, ratio: 1.5, when: '2030-01-01T00:00:00Z', mail: 'a@b.c' },
  { name: 'abc', template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', odd: 1 }, spec: { x: 'y', z: 2 } } },
];
const widgetSpecs = [
  { size: 1 },
  {},
  { size: 2, owners: ['a', 'b'], parts: [{ id: 'a', note: 'n' }, { id: 'b' }], order: ['y', 'x'] },
  { size: 5, whole: { a: 'b', c: 'd' }, free: { x: { y: [1, 2.5, null] } } },
];

const custom = (apiVersion: string, kind: string, specs: readonly object[], status?: object) => ({
  apiVersion: `test.example.com/${apiVersion}`,
  kind,
  bodies: specs.map((spec) => ({ spec, ...(status ? { status } : {}) })),
});

/** Bodies for objects of the definitions, by kind. */
export const customSamples = [
  custom('v1', 'Gadget', gadgetSpecs, { phase: 'Ready', replicas: 2, items: ['ab'] }),
  custom('v1', 'Plain', gadgetSpecs, { phase: 'Waiting' }),
  custom('v1', 'Widget', widgetSpecs, { ready: 1, selector: 'a=b' }),
  custom('v1beta1', 'Widget', widgetSpecs),
  custom('v1alpha1', 'Realm', [{}, { any: { thing: [1, 'x'] } }]),
];
