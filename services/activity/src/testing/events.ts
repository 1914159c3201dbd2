/** Audit events for tests. */

import type { JsonObject } from '@hangar/api';
import { microTime } from '../events/event.ts';
import { tenantAnnotation } from '../ingest/batch.ts';

export interface TestEvent {
  readonly id?: string;
  readonly stage?: string;
  readonly verb?: string;
  readonly user?: string;
  readonly plane?: string;
  readonly timeUs?: number;
  readonly reference?: JsonObject;
  readonly code?: number;
  readonly response?: JsonObject;
  readonly more?: JsonObject;
}

let last = 0;

export function auditEvent(event: TestEvent = {}): JsonObject {
  const { id = `id-${++last}`, stage = 'ResponseComplete', verb = 'create', user = 'kim', plane } = event;
  const { timeUs = Date.now() * 1_000, reference, code = 200, response, more } = event;
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'RequestResponse',
    auditID: id,
    stage,
    verb,
    requestURI: '/apis/apps/v1/namespaces/shop/deployments/web',
    user: { username: user, groups: ['dev', 'system:authenticated'] },
    sourceIPs: ['192.0.2.1'],
    userAgent: 'kubectl',
    objectRef: {
      apiGroup: 'apps',
      apiVersion: 'v1',
      resource: 'deployments',
      namespace: 'shop',
      name: 'web',
      ...reference,
    },
    responseStatus: { metadata: {}, code },
    requestReceivedTimestamp: microTime(timeUs),
    stageTimestamp: microTime(timeUs),
    ...(plane === undefined ? {} : { annotations: { [tenantAnnotation]: plane } }),
    ...(response && { responseObject: response }),
    ...more,
  };
}

export const batchOf = (...items: readonly JsonObject[]): Buffer =>
  Buffer.from(JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items }));
