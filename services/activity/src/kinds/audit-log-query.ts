/** The kind AuditLogQuery: created to read audit events, and not stored. */

import { invalid, invalidObject } from '@hangar/api';
import type { FieldError } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { declareKind, schema } from '@hangar/server/library';
import type { Kind, ObjectOf, TypeOf } from '@hangar/server/library';
import type { Backend } from '../backend/backend.ts';
import { microTime } from '../events/event.ts';
import type { AuditEvent } from '../events/event.ts';
import { EventFilter, FilterError } from '../filter/filter.ts';
import type { Scope } from '../scope/scope.ts';
import type { EventPosition } from '../storage/contract.ts';
import { readCursor, signedCursor } from './cursor.ts';
import { timeOf } from './times.ts';

export const group = 'activity.miloapis.com';
export const version = 'v1alpha1';

const { anything, integer, list, object, optional, string } = schema;

const limitDefault = 100;
const limitMax = 1_000;
/** Bytes of events in one response. */
const resultBytesMax = 2 * 1024 * 1024;
/** Events that one request examines; a query that needs more returns a part of the results, and a cursor. */
const examinedMax = 100_000;
const examinedAtOnce = 20_000;
/** Bytes of events that one request reads, also if the filter selects few of them. */
const readBytesMax = 16 * 1024 * 1024;
const rowsAtOnce = 500;

const time = (description: string) => string({ maxLength: 64, description });

const fields = object({
  spec: object({
    startTime: time(
      'Start of the time range, inclusive: RFC 3339, or relative to now, such as now-7d (units s, m, h, d, w).',
    ),
    endTime: optional(time('End of the time range, exclusive. Default: now.')),
    filter: optional(
      string({
        description:
          'CEL expression over auditID, stage, level, verb, requestURI, userAgent, plane, stageTimestamp, user, impersonatedUser, sourceIPs, objectRef, responseStatus and annotations of events. Absent fields are empty.',
      }),
    ),
    limit: optional(
      integer({ minimum: 1, maximum: limitMax, description: `Maximum number of results. Default: ${limitDefault}.` }),
    ),
    continue: optional(string({ description: 'status.continue of the previous response to the same query.' })),
  }),
  status: optional(
    object({
      results: optional(list(anything(), { description: 'Audit events of audit.k8s.io/v1, newest first.' })),
      continue: optional(
        string({ description: 'Set spec.continue to this value for further results. Absent: there are none.' }),
      ),
      effectiveStartTime: optional(string({ description: 'Start of the time range.' })),
      effectiveEndTime: optional(string({ description: 'End of the time range.' })),
    }),
  ),
});

export type AuditLogQuery = ObjectOf<TypeOf<typeof fields>>;

export interface QueryWorld {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly scope: Scope;
}

export const auditLogQueries = (world: QueryWorld): Kind =>
  declareKind({
    group,
    version,
    kind: 'AuditLogQuery',
    plural: 'auditlogqueries',
    scope: 'Cluster',
    schema: fields,
    storage: {
      onCreate: async (query) => ({ ...query, status: await answer(query, world) }) as AuditLogQuery,
    },
  });

interface Range {
  readonly startUs: number;
  readonly endUs: number;
}

async function answer(query: AuditLogQuery, { backend, clock, scope }: QueryWorld): Promise<object> {
  const { spec } = query;
  const { startTime, endTime = 'now', filter: text = '', limit = limitDefault } = spec;
  const refuse = (error: FieldError): never => {
    throw invalidObject({ group, kind: 'AuditLogQuery' }, query.metadata.name ?? '', [error]);
  };
  const context = { secret: await backend.secret(), scope: scope.id, query: [startTime, endTime, text] };
  const cursor = spec.continue ? readCursor(spec.continue, context) : undefined;
  if (spec.continue && !cursor) {
    refuse(invalid('spec.continue', spec.continue, 'not issued for this query: start again without it'));
  }
  const range = cursor ?? rangeOf(startTime, endTime, clock.now(), refuse);
  const filter = text === '' ? undefined : filterOf(text, refuse);
  const { results, next } = await find({ backend, clock, scope }, { range, filter, limit, after: cursor });
  return {
    results,
    ...(next && { continue: signedCursor({ ...range, ...next }, context) }),
    effectiveStartTime: microTime(range.startUs),
    effectiveEndTime: microTime(range.endUs),
  };
}

function rangeOf(start: string, end: string, nowMs: number, refuse: (error: FieldError) => never): Range {
  const wrong = 'must be a time of RFC 3339, or relative such as now-7d';
  const startUs = timeOf(start, nowMs) ?? refuse(invalid('spec.startTime', start, wrong));
  const endUs = timeOf(end, nowMs) ?? refuse(invalid('spec.endTime', end, wrong));
  if (startUs >= endUs) refuse(invalid('spec.endTime', end, 'must be after spec.startTime'));
  return { startUs, endUs };
}

function filterOf(text: string, refuse: (error: FieldError) => never): EventFilter {
  try {
    return new EventFilter(text);
  } catch (error) {
    if (error instanceof FilterError) return refuse(invalid('spec.filter', text.slice(0, 200), error.message));
    throw error;
  }
}

interface Search {
  readonly range: Range;
  readonly filter: EventFilter | undefined;
  readonly limit: number;
  readonly after: EventPosition | undefined;
}

async function find({ backend, clock, scope }: QueryWorld, search: Search) {
  const { range, filter, limit } = search;
  const isWhole = !filter || filter.isWhole;
  const planes = await scope.planes();
  const slicer = new Slicer(clock);
  const results: AuditEvent[] = [];
  let bytes = 0;
  let readBytes = 0;
  let after = search.after;
  for (let examined = 0; examined < examinedMax && readBytes < readBytesMax;) {
    const page = await backend.query({
      planes,
      ...range,
      after,
      filter: filter?.sql,
      limit: isWhole ? limit - results.length : rowsAtOnce,
      scanMax: examinedAtOnce,
      bytesMax: resultBytesMax - bytes,
    });
    slicer.restart();
    examined += isWhole ? examinedAtOnce : rowsAtOnce;
    for (const { plane, timeUs, sequence, columns, text } of page.events) {
      const event = JSON.parse(text) as AuditEvent;
      readBytes += text.length;
      if (isWhole || filter.matches({ plane, timeUs, columns, event })) {
        results.push(event);
        bytes += text.length;
      }
      after = { timeUs, sequence };
      if (results.length === limit || bytes >= resultBytesMax) return { results, next: after };
      const paused = slicer.pause();
      if (paused) await paused;
    }
    if (!page.next) return { results, next: undefined };
    after = page.next;
  }
  return { results, next: after };
}
