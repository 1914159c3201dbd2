/** Deadline of a request: the timeout of the client, limited by kube-apiserver's own limit. */

import { parseDuration } from '@hangar/api';
import type { ServerRequest } from '../http/message.ts';
import type { Call } from './call.ts';

const timeoutMaxMs = 60_000;

/** Keyed by request; set on first use, before which nothing takes long. */
const deadlines = new WeakMap<ServerRequest, number>();

export function deadlineOf({ request, query, plane }: Call): number {
  let deadline = deadlines.get(request);
  if (deadline === undefined) {
    deadline = plane.clock.monotonicMs() + timeoutMs(query.text('timeout'));
    deadlines.set(request, deadline);
  }
  return deadline;
}

function timeoutMs(text: string): number {
  if (text === '') return timeoutMaxMs;
  try {
    const asked = Number(parseDuration(text)) / 1_000_000;
    return asked > 0 ? Math.min(asked, timeoutMaxMs) : timeoutMaxMs;
  } catch {
    return timeoutMaxMs;
  }
}
