/** Writes a change of the identity together with `status.serving` of the Tenant, in one transaction. */

import { conflict, staleObject } from '@hangar/api';
import { timestamp } from '../../verbs/metadata.ts';
import type { Entry, Revision, Write } from '@hangar/store';
import { unconditionalAttemptsMax } from '../../limits.ts';
import { groupResource } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import { decodeIdentity, encodeIdentity } from '../identity.ts';
import type { TenantIdentity } from '../identity.ts';
import { askedTenant } from '../kind/asked-tenant.ts';
import type { AskedTenant } from '../kind/asked-tenant.ts';
import type { TenantWorld } from '../open-tenant.ts';
import type { TenantServing } from '../tenant.ts';
import type { Current, Transition } from './transitions.ts';

export interface CommittedTransition {
  /** Entry of the Tenant afterwards. */
  readonly entry: Entry;
  readonly identity: TenantIdentity;
  /** Revision of the identity afterwards. */
  readonly revision: Revision;
}

export interface TransitionOptions {
  readonly decide: (current: Current) => Transition;
  /** Further writes and conditions of the transaction; read again for each attempt. */
  readonly besides?: (asked: AskedTenant) => Promise<readonly Write[]>;
}

/** Throws 404, or 409 if the change is refused. */
export async function commitTransition(
  world: TenantWorld,
  call: Call,
  { decide, besides }: TransitionOptions,
): Promise<CommittedTransition> {
  for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
    const asked = await askedTenant(world, call);
    const { key, value, modRevision } = asked.identity;
    const transition = decide({ identity: decodeIdentity(value), revision: modRevision });
    if (transition.type === 'Refused') throw conflict(groupResource(call), asked.path, transition.reason);
    const identity = transition.type === 'Change' ? transition.next : decodeIdentity(value);
    const writes: Write[] =
      transition.type === 'Change'
        ? [
            { type: 'put', key, value: encodeIdentity(identity), expected: modRevision },
            ...((await besides?.(asked)) ?? []),
          ]
        : [{ type: 'check', key, expected: modRevision }];
    const status = { serving: servingOf(world, identity), ...(identity.isMaterialised && { isMaterialised: true }) };
    const committed = await commitStatus(call, asked.entry, status, writes);
    // Undefined: the tenant changed meanwhile.
    if (!committed) continue;
    return { ...committed, identity, revision: transition.type === 'Change' ? committed.revision : modRevision };
  }
  throw conflict(groupResource(call), call.info.name, staleObject);
}

function servingOf({ clock }: TenantWorld, { heldBy, remote }: TenantIdentity): TenantServing {
  return {
    mode: remote ? 'Remote' : 'Local',
    ...(remote ? { server: remote.server } : {}),
    ...(heldBy === undefined ? {} : { heldBy, heldAt: timestamp(clock) }),
  };
}

async function commitStatus(
  { plane, resource }: Call,
  entry: Entry,
  status: object,
  writes: readonly Write[],
): Promise<{ readonly entry: Entry; readonly revision: Revision } | undefined> {
  const object = resource.stored.object(entry);
  object['status'] = { ...(object['status'] as object), ...status };
  const value = resource.stored.encode(object);
  const result = await plane.store.commit([
    { type: 'put', key: entry.key, value, expected: entry.modRevision },
    ...writes,
  ]);
  if (!result.committed) return undefined;
  const { revision } = result;
  // This server has closed its view of the tenant, if the identity changed.
  await resource.settled?.(plane, revision);
  return { entry: { ...entry, value, modRevision: revision, version: entry.version + 1 }, revision };
}
