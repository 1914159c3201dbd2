/** The kind that the suite's operator is for. */

import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/runtime';

export interface WidgetObject extends ApiObject {
  spec: { size: number };
  status?: { parts?: number; conditions?: Condition[] };
}

export const Widget = defineKind<WidgetObject>({
  apiVersion: 'runtime.example.com/v1',
  kind: 'Widget',
  plural: 'widgets',
  isNamespaced: true,
});

const condition = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string', minLength: 1 },
    message: { type: 'string' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64' },
  },
};

const schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer', minimum: 0, maximum: 50 } } },
    status: {
      type: 'object',
      properties: {
        parts: { type: 'integer' },
        conditions: {
          type: 'array',
          items: condition,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
        },
      },
    },
  },
};

/** Another plural and kind: for a case that defines one while its operator runs. */
export const definitionOf = (plural: string, kind: string) => ({
  metadata: { name: `${plural}.runtime.example.com` },
  spec: {
    group: 'runtime.example.com',
    scope: 'Namespaced',
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: schema },
      },
    ],
  },
});

export const widgetDefinition = definitionOf('widgets', 'Widget');
