/**
 * Plans the changes of users and roles of etcd after which API servers can only read. A pure function of the observed state, so that
 * a call that was interrupted between any two changes continues with the rest.
 */

import type { Permission } from './messages/auth.ts';

/** Names of users are the common names of client certificates. */
export interface FenceUsers {
  /** User of the API servers. */
  readonly reader: string;
  /** User of the operator, with all rights: `root`, or another name. */
  readonly operator: string;
}

export interface AuthState {
  readonly enabled: boolean;
  /** Roles of the users that exist. */
  readonly users: ReadonlyMap<string, readonly string[]>;
  /** Permissions of the role of the reader. Absent: there is no such role. */
  readonly readerRole?: readonly Permission[] | undefined;
}

export type AuthChange =
  | { readonly type: 'addUser'; readonly user: string }
  | { readonly type: 'addRole'; readonly role: string }
  | { readonly type: 'grantRole' | 'revokeRole'; readonly user: string; readonly role: string }
  | { readonly type: 'grantPermission' | 'revokePermission'; readonly role: string; readonly permission: Permission }
  | { readonly type: 'enable' };

/** etcd does not enable authentication without this user, which has the role of the same name. */
export const rootUser = 'root';
const rootRole = 'root';
export const readerRole = 'hangar-reader';
export const readEverything: Permission = { type: 'read', start: '\u0000', end: '\u0000' };

/** In order. Empty: the reader can only read. */
export function fenceChanges(state: AuthState, { reader, operator }: FenceUsers): AuthChange[] {
  const changes: AuthChange[] = [];
  for (const user of new Set([rootUser, operator])) {
    const roles = state.users.get(user);
    if (!roles) changes.push({ type: 'addUser', user });
    if (!roles?.includes(rootRole)) changes.push({ type: 'grantRole', user, role: rootRole });
  }
  changes.push(...roleChanges(state.readerRole));
  const roles = state.users.get(reader);
  if (!roles) changes.push({ type: 'addUser', user: reader });
  for (const role of roles ?? []) if (role !== readerRole) changes.push({ type: 'revokeRole', user: reader, role });
  if (!roles?.includes(readerRole)) changes.push({ type: 'grantRole', user: reader, role: readerRole });
  if (!state.enabled) changes.push({ type: 'enable' });
  return changes;
}

function roleChanges(permissions: readonly Permission[] | undefined): AuthChange[] {
  const role = readerRole;
  const changes: AuthChange[] = permissions ? [] : [{ type: 'addRole', role }];
  for (const permission of permissions ?? []) {
    if (!isReadEverything(permission)) changes.push({ type: 'revokePermission', role, permission });
  }
  if (!permissions?.some(isReadEverything)) {
    changes.push({ type: 'grantPermission', role, permission: readEverything });
  }
  return changes;
}

const isReadEverything = ({ type, start, end }: Permission): boolean =>
  type === 'read' && start === readEverything.start && end === readEverything.end;
