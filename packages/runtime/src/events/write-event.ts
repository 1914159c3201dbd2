/** One write of a series: created when it is new or gone, else its count is brought up to date. */

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

/** Rejects as requests do. */
export async function writeEvent(sink: EventSink, series: Series, signal: AbortSignal): Promise<void> {
  const { count } = series;
  if (series.writtenCount > 0) {
    try {
      await patch(sink, series, signal);
      series.writtenCount = count;
      return;
    } catch (error) {
      // Servers keep events for an hour.
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
    // Of an attempt whose answer was lost.
    if (!hasCode(error, 'AlreadyExists')) throw error;
    if (series.count > 1) await patch(sink, series, signal);
  }
}

async function patch({ client, api }: EventSink, series: Series, signal: AbortSignal): Promise<void> {
  const key = { namespace: namespaceOf(series), name: series.name };
  await client.patch(api.kind, key, { type: 'merge', body: api.change(series) }, { signal });
}

/** `Aborted`: it took too long. */
const passing: ReadonlySet<string> = new Set([
  'Aborted',
  'TooManyRequests',
  'ServiceUnavailable',
  'ServerTimeout',
  'Timeout',
  'InternalError',
]);

/** Connections and busy servers; not a refusal, which would be the same again. */
export const mayPass = (error: unknown): boolean =>
  error instanceof ClientError || (error instanceof CodedError ? passing.has(error.code) : true);
