/**
 * Changes of a tenant's identity by a migration, as pure functions. Every change can be repeated; a change by another migration is
 * refused.
 *
 *     Local ── hold ──▶ Local, held ── passTo ──▶ Remote ── hold ──▶ Remote, held ── serveReceived ──▶ Local
 *       ▲                    │                      ▲                      │
 *       └──── release ───────┘                      └────── release ───────┘
 */

import type { Revision } from '@hangar/store';
import type { RemoteApiServer, TenantIdentity } from '../identity.ts';

/** `next`: the identity to write. `Done`: the change was made before. `Refused`: why it cannot be made. */
export type Transition =
  | { readonly type: 'Change'; readonly next: TenantIdentity }
  | { readonly type: 'Done' }
  | { readonly type: 'Refused'; readonly reason: string };

export interface Current {
  readonly identity: TenantIdentity;
  /** Revision of the identity. */
  readonly revision: Revision;
}

const done: Transition = { type: 'Done' };
const refused = (reason: string): Transition => ({ type: 'Refused', reason });
const heldByAnother = (heldBy: string): Transition =>
  refused(`migration ${JSON.stringify(heldBy)} holds the tenant, and its hold must end first`);

/** Begins a hold. The content stays readable to later views: `since` keeps the first revision of its history. */
export function held({ identity, revision }: Current, id: string): Transition {
  if (identity.next) return refused('its data is being restored');
  if (identity.heldBy === id) return done;
  if (identity.heldBy !== undefined) return heldByAnother(identity.heldBy);
  return { type: 'Change', next: { ...identity, since: identity.since ?? revision, heldBy: id } };
}

/** Ends a hold: the tenant is served as before it. */
export function released({ identity }: Current, id: string): Transition {
  if (identity.heldBy === undefined) return done;
  if (identity.heldBy !== id) return heldByAnother(identity.heldBy);
  const { heldBy: _, ...next } = identity;
  return { type: 'Change', next };
}

/** Ends the hold of a tenant: its requests are passed on to `remote`. */
export function passedTo({ identity }: Current, id: string, remote: RemoteApiServer): Transition {
  if (identity.heldBy === undefined) {
    return identity.remote && isSameServer(identity.remote, remote) ? done : refused('no migration holds the tenant');
  }
  if (identity.heldBy !== id) return heldByAnother(identity.heldBy);
  const { heldBy: _, ...rest } = identity;
  return { type: 'Change', next: { ...rest, remote } };
}

/**
 * Ends the hold of a Remote tenant whose range has received everything up to `revision`: it serves that content, with the base objects in
 * it. Only watches from later revisions resume.
 */
export function servedAgain({ identity }: Current, id: string, revision: Revision): Transition {
  const resumesFrom = (revision + 1) as Revision;
  if (!identity.remote) {
    const isDone = identity.heldBy === undefined && identity.resumesFrom === resumesFrom;
    return isDone ? done : refused('it is not passed on to another API server');
  }
  if (identity.heldBy === undefined) return refused('no migration holds the tenant');
  if (identity.heldBy !== id) return heldByAnother(identity.heldBy);
  const { seed, createdAt, restoreId } = identity;
  const kept = restoreId === undefined ? {} : { restoreId };
  return { type: 'Change', next: { seed, createdAt, ...kept, isMaterialised: true, resumesFrom } };
}

const isSameServer = (one: RemoteApiServer, other: RemoteApiServer): boolean =>
  one.server === other.server && one.ca === other.ca && one.serverName === other.serverName;
