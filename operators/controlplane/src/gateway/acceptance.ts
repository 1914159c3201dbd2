/** Reads the status of a route that the controller of a Gateway wrote. Pure. */

import { findCondition } from '@hangar/runtime';
import type { Condition } from '@hangar/runtime';
import type { GatewayReference } from '../api/index.ts';
import type { RouteParentStatus, TlsRoute } from './tls-route.ts';

export interface Acceptance {
  readonly status: boolean;
  readonly reason: 'RouteAccepted' | 'RouteNotAccepted' | 'RouteRefsNotResolved';
  readonly message: string;
}

/** Of several controllers of one Gateway, acceptance by one is enough. */
export function acceptanceOf(route: TlsRoute, parent: GatewayReference): Acceptance {
  const { namespace = '', name = '' } = route.metadata;
  const gateway = `Gateway "${parent.namespace}/${parent.name}"`;
  const spoken = (route.status?.parents ?? []).filter((one) => isAbout(one, parent, namespace));
  const answers = spoken.map((one) => answerOf(one, route)).filter((one) => one !== undefined);
  const best = answers.find(({ status }) => status) ?? answers[0];
  if (!best) {
    const message = `waiting for the controller of ${gateway} to accept TLSRoute "${namespace}/${name}"`;
    return { status: false, reason: 'RouteNotAccepted', message };
  }
  const what = best.status ? 'accepted' : 'does not serve';
  const why = best.message === '' ? '' : `: ${best.message}`;
  return { ...best, message: `${gateway} ${what} TLSRoute "${namespace}/${name}"${why}` };
}

const isAbout = ({ parentRef }: RouteParentStatus, parent: GatewayReference, routeNamespace: string): boolean =>
  parentRef?.name === parent.name &&
  (parentRef.namespace ?? routeNamespace) === parent.namespace &&
  (parentRef.kind ?? 'Gateway') === 'Gateway';

/** Undefined: none, or about an earlier generation of the route. */
function answerOf({ conditions }: RouteParentStatus, { metadata }: TlsRoute): Acceptance | undefined {
  const current = (conditions ?? []).filter(
    ({ observedGeneration }) => (observedGeneration ?? Infinity) >= (metadata.generation ?? 0),
  );
  const accepted = findCondition(current, 'Accepted');
  if (!accepted || accepted.status === 'Unknown') return undefined;
  if (accepted.status !== 'True') return { status: false, reason: 'RouteNotAccepted', message: said(accepted) };
  const resolved = findCondition(current, 'ResolvedRefs');
  if (resolved?.status === 'False') return { status: false, reason: 'RouteRefsNotResolved', message: said(resolved) };
  return { status: true, reason: 'RouteAccepted', message: '' };
}

const said = ({ reason, message }: Condition): string => [reason, message].filter((one) => one).join(': ');
