/** Subresources of `tenants`. */

import type { Answer } from '../../http/message.ts';
import type { Resource } from '../../resources/resource.ts';
import type { Call } from '../../verbs/call.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { backupOperation } from '../backup/backup.ts';
import { restoreOperation } from '../backup/restore.ts';
import { holdOperation, releaseOperation, remoteOperation } from '../hold/operations.ts';
import { materialiseOperation } from '../materialise.ts';
import { FeedStreams } from '../feed/index.ts';
import { keysOperation } from './keys.ts';
import { ReplicaReceiver } from '../replica/receiver.ts';
import { ReplicaSource } from '../replica/source.ts';
import { everyTenant } from '../route.ts';
import type { Tenant } from '../tenant.ts';
import { everyUsageOperation } from '../usage/every-usage.ts';
import { usageOperation } from '../usage/operation.ts';
import { kubeconfigOperation } from './kubeconfig.ts';

export interface OperationsOptions {
  /** Returns all tenants. */
  readonly tenants: () => Iterable<Tenant>;
  /** Aborted when the server closes; stops operations that run until then. */
  readonly closed: AbortSignal;
  /** Resolves when this server has ended the requests of a tenant that was closed. */
  readonly ended: (path: string) => Promise<void>;
}

export const operations = (
  world: TenantWorld,
  { tenants, closed, ended }: OperationsOptions,
): NonNullable<Resource['operations']> => ({
  backup: { create: backupOperation(world) },
  feed: new FeedStreams({ world, closed }).handlers,
  hold: { create: holdOperation(world, ended) },
  keys: { create: keysOperation(world) },
  kubeconfig: { create: kubeconfigOperation(world) },
  materialise: { create: materialiseOperation(world) },
  replica: replicaOf(world, closed),
  release: { create: releaseOperation(world) },
  remote: { create: remoteOperation(world) },
  restore: { create: restoreOperation(world) },
  usage: { get: usageOf(world, tenants) },
});

function replicaOf(world: TenantWorld, closed: AbortSignal): NonNullable<Resource['operations']>[string] {
  const [source, receiver] = [new ReplicaSource(world, closed), new ReplicaReceiver(world)];
  return { get: (call) => source.get(call), create: (call) => receiver.create(call) };
}

/** `tenants/demo/usage`, and for all tenants `tenants/STAR/usage`, where STAR is `*`. */
function usageOf(world: TenantWorld, tenants: () => Iterable<Tenant>): (call: Call) => Promise<Answer> {
  const [ofOne, ofEvery] = [usageOperation(world), everyUsageOperation(world, tenants)];
  return (call) => (call.info.name === everyTenant ? ofEvery(call) : ofOne(call));
}
