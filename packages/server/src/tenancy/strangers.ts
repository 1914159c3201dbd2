/**
 * Answers clients that are unknown to a tenant as if the tenant did not exist: the management plane answers, with the same message and
 * after the same time. Otherwise the time to open a tenant and to check a token would reveal that the tenant exists.
 */

import type { Clock } from '@hangar/core';
import type { ServerRequest } from '../http/message.ts';
import { hostName } from './route.ts';
import { RoutedRequest } from './routed-request.ts';
import type { Tenant } from './tenant.ts';

/** Usually longer than opening a tenant and authenticating a token. */
export const defaultPaceMs = 100;

/**
 * Converts a request by host name into the form in which the management plane receives requests for tenants that do not exist. The original
 * target includes the host, because the path alone would look like a request to the management plane.
 */
export function asUnknown(request: ServerRequest, { path }: Tenant): ServerRequest {
  const { target } = request;
  const host = request.peer.serverName ?? hostName(request.header('host'));
  return new RoutedRequest(request, `/clusters/${path}/control-plane${target}`, `https://${host}${target}`);
}

/**
 * Waits for the next multiple of `paceMs` since the request began, so that the time of the answer does not reveal the duration of the work.
 */
export async function untilBeat(clock: Clock, begunMs: number, paceMs: number): Promise<void> {
  if (paceMs === 0) return;
  const restMs = paceMs - ((clock.monotonicMs() - begunMs) % paceMs);
  await new Promise<void>((resolve) => void clock.after(restMs, resolve));
}
