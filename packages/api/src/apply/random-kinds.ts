/** Kinds for tests, with configurations drawn at random: few names and few values, so that managers collide. */

import type { JsonObject } from '../object.ts';

/** Uniform in [0, 1), the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export class Draw {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  one<T>(...choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)]!;
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  some<T>(...choices: readonly T[]): T[] {
    return choices.filter(() => this.chance(0.5));
  }

  /** Draws each with even chances; the others are absent. */
  fields(make: Readonly<Record<string, () => unknown>>, probability = 0.5): JsonObject {
    const drawn = Object.entries(make).filter(() => this.chance(probability));
    return Object.fromEntries(drawn.map(([name, value]) => [name, value()]));
  }

  map(...keys: readonly string[]): JsonObject {
    return Object.fromEntries(this.some(...keys).map((key) => [key, this.one('1', '2')]));
  }
}

export interface RandomKind {
  readonly apiVersion: string;
  readonly kind: string;
  /** Path of the collection. */
  readonly path: string;
  readonly resetFields: Readonly<Record<string, readonly string[]>>;
  /** Without apiVersion, kind and metadata; for applying, so possibly partial. */
  readonly config: (draw: Draw) => JsonObject;
  /** Additional fields for a valid object, if the config alone is not valid. */
  readonly required: JsonObject;
  readonly status?: (draw: Draw) => JsonObject;
}

const resetByStatus = { '': ['status'], status: ['spec'] };

export const configMap: RandomKind = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  path: '/api/v1/namespaces/default/configmaps',
  resetFields: { '': [] },
  config: (draw) =>
    draw.fields(
      { data: () => draw.map('a', 'b', 'c', 'd.e', 'ü'), binaryData: () => draw.one({}, { x: 'MQ==' }, { x: 'Mg==' }) },
      0.8,
    ),
  required: {},
};

const container = (draw: Draw, name: string): JsonObject => ({
  name,
  image: draw.one('a', 'b'),
  ...draw.fields(
    {
      command: () => draw.some('x', 'y'),
      env: () => draw.some('A', 'B', 'C').map((env) => ({ name: env, value: draw.one('1', '2') })),
      ports: () =>
        draw.some(80, 81).map((containerPort) => ({
          containerPort,
          ...draw.fields({ protocol: () => 'UDP', name: () => `p${containerPort}` }),
        })),
      resources: () => ({ limits: draw.one({ cpu: '1' }, { cpu: '2000m' }, { memory: '1Gi' }) }),
      args: () => draw.some('1', '2', '3'),
    },
    0.4,
  ),
});

const labels = { app: 'x' };

export const deployment: RandomKind = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  path: '/apis/apps/v1/namespaces/default/deployments',
  resetFields: { '': ['status'], status: ['spec', 'metadata.labels'] },
  config: (draw) => ({
    spec: {
      ...draw.fields(
        {
          replicas: () => draw.one(1, 2, 3),
          paused: () => draw.one(true, false),
          minReadySeconds: () => draw.one(0, 5),
          strategy: () => draw.one<JsonObject>({ type: 'Recreate', rollingUpdate: null }, { type: 'RollingUpdate' }),
        },
        0.4,
      ),
      template: {
        metadata: { labels: { ...labels, ...draw.map('tier') } },
        spec: {
          containers: draw
            .some('one', 'two')
            .concat(draw.some('three'))
            .map((name) => container(draw, name)),
          ...draw.fields(
            {
              nodeSelector: () => draw.map('disk', 'zone'),
              volumes: () =>
                draw.some('v1', 'v2').map((name) => ({ name, emptyDir: draw.one({}, { medium: 'Memory' }) })),
              terminationGracePeriodSeconds: () => draw.one(1, 2),
              imagePullSecrets: () => draw.some('s1', 's2').map((name) => ({ name })),
            },
            0.3,
          ),
        },
      },
    },
  }),
  required: { spec: { selector: { matchLabels: labels } } },
  status: (draw) => ({
    observedGeneration: draw.one(1, 2),
    ...draw.fields({
      conditions: () =>
        draw.some('Available', 'Progressing').map((type) => ({ type, status: draw.one('True', 'False') })),
    }),
  }),
};

export const service: RandomKind = {
  apiVersion: 'v1',
  kind: 'Service',
  path: '/api/v1/namespaces/default/services',
  resetFields: resetByStatus,
  config: (draw) => ({
    spec: {
      ports: draw.some(80, 81, 82).map((port) => ({
        port,
        name: `p${port}`,
        protocol: 'TCP',
        targetPort: draw.one<number | string>(8080, 'http', port),
      })),
      ...draw.fields({
        selector: () => draw.map('app', 'tier'),
        publishNotReadyAddresses: () => draw.one(true, false),
        sessionAffinity: () => 'None',
        loadBalancerSourceRanges: () => null,
      }),
    },
  }),
  required: {},
  status: (draw) => ({
    loadBalancer: {},
    ...draw.fields({
      conditions: () =>
        draw.some('A', 'B').map((type) => ({
          type,
          status: draw.one('True', 'False'),
          lastTransitionTime: '2026-01-01T00:00:00Z',
          reason: 'R',
          message: '',
        })),
    }),
  }),
};

const text = { type: 'string' };
const keyedItems = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text,
    value: { 'x-kubernetes-int-or-string': true },
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  },
};
const portItems = {
  type: 'object',
  required: ['port'],
  properties: { port: { type: 'integer' }, protocol: { ...text, default: 'TCP' }, note: text },
};

/** The schema of a custom resource that has every kind of list and map. */
export const widgetSchema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        numbers: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
        keyed: {
          type: 'array',
          items: keyedItems,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        ports: {
          type: 'array',
          items: portItems,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
        },
        atomicList: { type: 'array', items: text },
        atomicMap: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
        map: { type: 'object', additionalProperties: text },
        nested: {
          type: 'object',
          properties: { a: text, b: { type: 'object', properties: { c: text, d: { type: 'integer' } } } },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        size: { 'x-kubernetes-int-or-string': true },
        maybe: { ...text, nullable: true },
      },
    },
    status: {
      type: 'object',
      properties: { phase: text, seen: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' } },
    },
  },
};

export const widget: RandomKind = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  path: '/apis/example.com/v1/namespaces/default/widgets',
  resetFields: { '': ['status'], status: ['metadata', 'spec'] },
  config: (draw) => ({
    spec: draw.fields({
      set: () => draw.some('a', 'b', 'c', 'd<e'),
      numbers: () => draw.some(3, 20, 1),
      keyed: () =>
        draw.some('x', 'y', 'z').map((name) => ({
          name,
          ...draw.fields({ value: () => draw.one<unknown>(1, 'v'), tags: () => draw.some('t', 'u') }),
        })),
      ports: () =>
        draw
          .some(80, 443)
          .map((port) => ({ port, ...draw.fields({ protocol: () => draw.one('UDP', 'TCP'), note: () => 'n' }) })),
      atomicList: () => draw.some('a', 'b', 'c'),
      atomicMap: () => draw.map('a', 'b'),
      map: () => draw.map('a', 'b', 'c'),
      nested: () =>
        draw.fields({
          a: () => draw.one('1', '2'),
          b: () => draw.fields({ c: () => draw.one('1', '2'), d: () => draw.one(1, 2) }),
        }),
      free: () => draw.one<unknown>({ a: { b: [1] } }, { a: 1 }, { a: { b: 2 }, c: 'x' }, {}),
      size: () => draw.one<unknown>(1, '10%'),
      maybe: () => draw.one('a', null),
    }),
  }),
  required: {},
  status: (draw) => draw.fields({ phase: () => draw.one('A', 'B'), seen: () => draw.some('a', 'b', 'c') }),
};

export const widgetDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: widgetSchema },
        subresources: { status: {} },
      },
    ],
  },
};
