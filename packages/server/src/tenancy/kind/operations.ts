/** What can be asked of one tenant besides its object: subresources of `tenants`. */

import type { Resource } from '../../resources/resource.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { backupOperation } from '../backup/backup.ts';
import { restoreOperation } from '../backup/restore.ts';
import { materialiseOperation } from '../materialise.ts';
import { keysOperation } from './keys.ts';
import { usageOperation } from '../usage/operation.ts';
import { kubeconfigOperation } from './kubeconfig.ts';

export const operations = (world: TenantWorld): NonNullable<Resource['operations']> => ({
  backup: { create: backupOperation(world) },
  keys: { create: keysOperation(world) },
  kubeconfig: { create: kubeconfigOperation(world) },
  materialise: { create: materialiseOperation(world) },
  restore: { create: restoreOperation(world) },
  usage: { get: usageOperation(world) },
});
