/** Turns a batch of a webhook into rows of the database: checks, columns, the control plane, and the draft of an activity. */

import { isObject } from '@hangar/api';
import { columnsOf, digestOf, managementPlane, microsecondsOf, objectOf, stringOf } from '../events/event.ts';
import type { AuditEvent, EventRow } from '../events/event.ts';
import type { PolicySet } from '../policy/policy.ts';
import type { NewEvent } from '../storage/contract.ts';
import { activityDraft } from './activity.ts';

/**
 * Sender of a batch. With a plane, all its events belong to that control plane. Without one, the sender is a Hangar server, whose mark
 * in the annotations names the control plane: the server adds it before any other annotation and does not let others replace it.
 */
export interface IngestSource {
  readonly plane: string | undefined;
}

/** The mark of Hangar servers for events of tenants. */
export const tenantAnnotation = 'tenancy.hangar.dev/tenant';

export interface BatchLimits {
  readonly nowUs: number;
  /** Earlier events are not stored: retention would drop them. */
  readonly oldestUs: number;
}

export interface Batch {
  readonly events: readonly NewEvent[];
  /** Number of events that are older than the retention. */
  readonly expired: number;
}

/** The batch is not valid: the sender gets 400. */
export class BatchError extends Error {}

/** Clocks of control planes may be ahead of this one. */
const aheadMaxUs = 86_400_000_000;
/** Longer events are stored without their objects. */
const eventBytesMax = 32 * 1024;

/** Throws a `BatchError`. */
export function readBatch(body: Uint8Array, source: IngestSource, policies: PolicySet, limits: BatchLimits): Batch {
  const events: NewEvent[] = [];
  let expired = 0;
  for (const [at, event] of itemsOf(body).entries()) {
    const row = rowOf(event, source, at, limits);
    if (row.timeUs < limits.oldestUs) expired++;
    else {
      const withoutObjects = (): string => JSON.stringify(shortened(event));
      events.push({ row, withoutObjects, draft: activityDraft(event, row, policies) });
    }
  }
  return { events, expired };
}

function itemsOf(body: Uint8Array): readonly AuditEvent[] {
  let list: unknown;
  try {
    list = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
  } catch (error) {
    throw new BatchError(`the body is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isObject(list) || list['kind'] !== 'EventList' || list['apiVersion'] !== 'audit.k8s.io/v1') {
    throw new BatchError('the body is not an EventList of audit.k8s.io/v1');
  }
  const items = list['items'];
  if (!Array.isArray(items) || !items.every((one) => isObject(one))) {
    throw new BatchError('items must be a list of events');
  }
  return items;
}

function rowOf(event: AuditEvent, source: IngestSource, at: number, limits: BatchLimits): EventRow {
  const columns = columnsOf(event);
  if (columns.auditId === '' || columns.stage === '')
    throw new BatchError(`items[${at}]: auditID and stage are required`);
  const timeUs = microsecondsOf(stringOf(event['stageTimestamp']));
  if (timeUs === undefined) throw new BatchError(`items[${at}].stageTimestamp: not a time of RFC 3339`);
  if (timeUs > limits.nowUs + aheadMaxUs) throw new BatchError(`items[${at}].stageTimestamp: in the future`);
  const plane = source.plane ?? markOf(event) ?? managementPlane;
  const whole = JSON.stringify(event);
  const text = whole.length <= eventBytesMax ? whole : JSON.stringify(shortened(event));
  return { ...columns, plane, timeUs, digest: digestOf(plane, whole), text };
}

function markOf(event: AuditEvent): string | undefined {
  const mark = stringOf(objectOf(event['annotations'])[tenantAnnotation]);
  return mark === '' ? undefined : mark;
}

/** Returns the event without its objects; without further fields if it is still too long. */
function shortened(event: AuditEvent): AuditEvent {
  const rest = { ...event };
  delete rest['requestObject'];
  delete rest['responseObject'];
  const annotations = { ...objectOf(rest['annotations']), 'audit.k8s.io/truncated': 'true' };
  const short = { ...rest, annotations };
  return JSON.stringify(short).length <= eventBytesMax
    ? short
    : {
        kind: 'Event',
        apiVersion: 'audit.k8s.io/v1',
        ...onlyKeys(rest),
        annotations: { 'audit.k8s.io/truncated': 'true' },
      };
}

const keptKeys = ['level', 'auditID', 'stage', 'verb', 'stageTimestamp', 'requestReceivedTimestamp', 'objectRef'];

/** Of an event whose other fields are too long, such as the URI. */
const onlyKeys = (event: AuditEvent): AuditEvent =>
  Object.fromEntries(
    keptKeys.filter((key) => JSON.stringify(event[key] ?? '').length < 4_096).map((key) => [key, event[key]!]),
  ) as AuditEvent;
