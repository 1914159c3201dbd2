/**
 * The fence of an etcd: its authentication, with a user for the API servers that can only read. `AuthEnable` is one entry of the raft log, and
 * etcd checks rights when it applies an entry, so a write that comes behind it in the log is refused by every member, whenever it was sent.
 *
 *     const fence = openEtcdFence({ endpoints, tls, reader: 'kube-apiserver-etcd-client', operator: 'root' });
 *     const last = await fence.fence();
 *
 * etcd identifies users by the common name of their certificate (`--client-cert-auth`). The certificate in `tls` is that of the operator. All calls
 * reject with a StoreError: `Unavailable` if no member answers in time, `Unauthenticated` if etcd refuses the certificate.
 */

import { GrpcError } from '@hangar/http2/grpc';
import type { Revision } from '../../contract.ts';
import { StoreError } from '../../errors.ts';
import { fenceChanges, readerRole, rootUser } from './auth-plan.ts';
import type { AuthChange, AuthState, FenceUsers } from './auth-plan.ts';
import type { Client, Request } from './client.ts';
import {
  authErrors,
  authMethods,
  decodeAuthStatus,
  decodeRole,
  decodeUser,
  encodeName,
  encodeRoleGrant,
  encodeRoleRevoke,
  encodeUserAdd,
  encodeUserRole,
} from './messages/auth.ts';
import { decodeHeader } from './messages/header.ts';
import { encodeRevisionProbe, methods } from './messages/kv.ts';
import { encodeEmpty } from './messages/maintenance.ts';
import { openClient } from './open-client.ts';
import type { ConnectionOptions } from './open-client.ts';

export type { FenceUsers } from './auth-plan.ts';

export interface EtcdFenceOptions extends ConnectionOptions, FenceUsers {}

export interface EtcdFence {
  /**
   * Refuses all later writes of the reader. Returns the revision of etcd after its last write. It can be called again after any failure,
   * and by several callers at once.
   */
  fence(): Promise<Revision>;
  /** Removes the fence. The next write of the reader succeeds. */
  unfence(): Promise<void>;
  /** Reports whether the reader can only read. */
  isFenced(): Promise<boolean>;
  /** Returns the revision of etcd, after every write that was applied before the call. */
  revision(): Promise<Revision>;
  /** Fails calls in progress with `Closed`. */
  close(): void;
}

/** Each round repeats changes that another caller undid or made at the same time. */
const roundsMax = 5;

/** Connects at the first call. */
export function openEtcdFence(options: EtcdFenceOptions): EtcdFence {
  const { reader, operator } = options;
  if (reader === operator || reader === rootUser) {
    throw new StoreError('InvalidRequest', `the fence of etcd cannot limit the user ${JSON.stringify(reader)}`);
  }
  const client = openClient(options);
  const missing = async (): Promise<AuthChange[]> => fenceChanges(await observe(client, options), options);
  /** A linearizable read. */
  const revision = (): Promise<Revision> =>
    call(client, { method: methods.range, frame: encodeRevisionProbe(''), decode: decodeHeader });
  return {
    async fence() {
      for (let round = 1; ; round++) {
        const changes = await missing();
        if (changes.length === 0) break;
        if (round > roundsMax) throw new StoreError('Unavailable', 'etcd: users and roles are changed by others');
        for (const change of changes) await make(client, change);
      }
      // Authentication is enabled: the read sees every write that was applied before it.
      return revision();
    },
    unfence: () => call(client, { method: authMethods.disable, frame: encodeEmpty(), decode: () => undefined }),
    isFenced: async () => (await missing()).length === 0,
    revision,
    close: () => client.close(),
  };
}

async function observe(client: Client, { reader, operator }: FenceUsers): Promise<AuthState> {
  const names = [...new Set([rootUser, operator, reader])];
  const [{ enabled }, permissions, ...roles] = await Promise.all([
    call(client, { method: authMethods.status, frame: encodeEmpty(), decode: decodeAuthStatus }),
    ifFound(call(client, { method: authMethods.roleGet, frame: encodeName(readerRole), decode: decodeRole })),
    ...names.map((name) =>
      ifFound(call(client, { method: authMethods.userGet, frame: encodeName(name), decode: decodeUser })),
    ),
  ]);
  const users = names.flatMap((name, index) => (roles[index] ? [[name, roles[index]] as const] : []));
  return { enabled, users: new Map(users), readerRole: permissions };
}

async function make(client: Client, change: AuthChange): Promise<void> {
  try {
    await call(client, { ...requestOf(change), decode: () => undefined });
  } catch (error) {
    // Another caller was faster, or a repeated request met its own effect. The next round checks the result.
    if (!hasReason(error, alreadyMade)) throw error;
  }
}

function requestOf(change: AuthChange): { method: string; frame: Buffer } {
  switch (change.type) {
    case 'addUser':
      return { method: authMethods.userAdd, frame: encodeUserAdd(change.user) };
    case 'addRole':
      return { method: authMethods.roleAdd, frame: encodeName(change.role) };
    case 'grantRole':
      return { method: authMethods.userGrantRole, frame: encodeUserRole(change.user, change.role) };
    case 'revokeRole':
      return { method: authMethods.userRevokeRole, frame: encodeUserRole(change.user, change.role) };
    case 'grantPermission':
      return { method: authMethods.roleGrantPermission, frame: encodeRoleGrant(change.role, change.permission) };
    case 'revokePermission':
      return { method: authMethods.roleRevokePermission, frame: encodeRoleRevoke(change.role, change.permission) };
    case 'enable':
      return { method: authMethods.enable, frame: encodeEmpty() };
  }
}

const { userExists, roleExists, roleNotGranted, permissionNotGranted, userNotFound, roleNotFound } = authErrors;
const alreadyMade: readonly string[] = [userExists, roleExists, roleNotGranted, permissionNotGranted];

async function ifFound<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (hasReason(error, [userNotFound, roleNotFound])) return undefined;
    throw error;
  }
}

const hasReason = (error: unknown, reasons: readonly string[]): boolean =>
  error instanceof StoreError && error.cause instanceof GrpcError && reasons.includes(error.cause.message);

/** All requests of a fence are idempotent. */
const call = <T>(client: Client, request: Omit<Request<T>, 'repeatable'>): Promise<T> =>
  client.call({ ...request, repeatable: true });
