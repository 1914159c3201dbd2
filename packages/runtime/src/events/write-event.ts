/** One write of a series: creates the event if it is new or was deleted, otherwise updates its count. */

import type { Client } from '@hangar/client';
import { ClientError } from '@hangar/client';
import { CodedError, hasCode } from '@hangar/core';
import { namespaceOf } from './event-apis.ts';
import type { EventApi, Reporter } from './event-apis.ts';
import type { Series } from './series.ts';

export interface EventSink {
  readonly client: Pick<Client, 'create' | 'patch'>;
  readonly api: EventApi;
  readonly reporter: Reporter;
}

/** Rejects with the error of the request. */
export async function writeEvent(sink: EventSink, series: Series, signal: AbortSignal): Promise<void> {
  const { count } = series;
  if (series.writtenCount > 0) {
    try {
      await patch(sink, series, signal);
      series.writtenCount = count;
      return;
    } catch (error) {
      // Servers delete events after an hour.
      if (!hasCode(error, 'NotFound')) throw error;
      series.writtenCount = 0;
    }
  }
  await create(sink, series, signal);
  series.writtenCount = count;
}

async function create(sink: EventSink, series: Series, signal: AbortSignal): Promise<void> {
  const { client, api, reporter } = sink;
  try {
    await client.create(api.kind, api.draft(series, reporter), { signal });
  } catch (error) {
    // Created by an attempt whose response was lost.
    if (!hasCode(error, 'AlreadyExists')) throw error;
    if (series.count > 1) await patch(sink, series, signal);
  }
}

async function patch({ client, api }: EventSink, series: Series, signal: AbortSignal): Promise<void> {
  const key = { namespace: namespaceOf(series), name: series.name };
  await client.patch(api.kind, key, { type: 'merge', body: api.change(series) }, { signal });
}

/** `Aborted`: the attempt timed out. */
const passing: ReadonlySet<string> = new Set([
  'Aborted',
  'TooManyRequests',
  'ServiceUnavailable',
  'ServerTimeout',
  'Timeout',
  'InternalError',
]);

/** Reports whether a retry may succeed: connection failures and busy servers, but not rejections. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ClientError || (error instanceof CodedError ? passing.has(error.code) : true);
