/** Handlers between the port and the control planes: refuses requests during startup, and logs requests. */

import { StatusError } from '@hangar/api';
import { systemClock } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { isPublicPath } from '@hangar/server';
import type { Handler } from '@hangar/server';

const starting = { status: 503, headers: { 'content-type': 'application/json', 'retry-after': '1' } } as const;

/**
 * Until everything stored is served, no object may be reported as absent: a controller would take that for a deletion. Health requests are
 * answered at any time.
 */
export function onceStarted(handler: Handler, state: { readonly isStarted: boolean }): Handler {
  const { status } = new StatusError('ServiceUnavailable', 'the server is starting', {
    details: { retryAfterSeconds: 1 },
  });
  const body = Buffer.from(JSON.stringify(status));
  return (request) =>
    state.isStarted || isPublicPath(request.target.split('?', 1)[0]!)
      ? handler(request)
      : Promise.resolve({ ...starting, body });
}

/** Logs every request. */
export function logged(handler: Handler, log: Logger): Handler {
  if (!log.isOn('debug')) return handler;
  return async (request) => {
    const begunMs = systemClock.monotonicMs();
    const answer = await handler(request);
    const { method, target, peer } = request;
    const ms = Math.round((systemClock.monotonicMs() - begunMs) * 1_000) / 1_000;
    log.debug('request', { method, target, status: answer.status, ms, from: peer.address });
    return answer;
  };
}
