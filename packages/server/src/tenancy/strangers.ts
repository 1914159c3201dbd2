/**
 * Who is nobody in a tenant is answered as if there were no such tenant: by the management plane, in the same words and after
 * the same time. What a tenant needs to be opened, and to find out that it does not know a token, would tell that it is there.
 */

import type { Clock } from '@hangar/core';
import type { ServerRequest } from '../http/message.ts';
import { hostName } from './route.ts';
import { RoutedRequest } from './routed-request.ts';
import type { Tenant } from './tenant.ts';

/** More than it takes to open a tenant and to find out whose token it is, mostly. */
export const defaultPaceMs = 100;

/**
 * A request for a tenant by its host as the management plane gets those for tenants that there are not. Whoever writes it down
 * writes the host, too: the path alone would be one of the management plane.
 */
export function asUnknown(request: ServerRequest, { path }: Tenant): ServerRequest {
  const { target } = request;
  const host = request.peer.serverName ?? hostName(request.header('host'));
  return new RoutedRequest(request, `/clusters/${path}/control-plane${target}`, `https://${host}${target}`);
}

/** The next beat since the request began: how long it took cannot be told from when the answer comes. */
export async function untilBeat(clock: Clock, begunMs: number, paceMs: number): Promise<void> {
  if (paceMs === 0) return;
  const restMs = paceMs - ((clock.monotonicMs() - begunMs) % paceMs);
  await new Promise<void>((resolve) => void clock.after(restMs, resolve));
}
