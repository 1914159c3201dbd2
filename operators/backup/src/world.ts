/** The dependencies of the controllers, and the control plane that an object refers to. */

import type { Clock, Random } from '@hangar/core';
import type { ClusterEvents } from '@hangar/runtime';
import type { ControlPlaneKind, ControlPlaneReference } from './api/index.ts';
import type { DestinationSource } from './destinations/open.ts';
import { ReferenceFault } from './errors.ts';
import type { BackupMetrics } from './metrics/backup-metrics.ts';
import type { BackupTarget, TargetName } from './target.ts';

export interface BackupWorld {
  /** By kind. Objects that refer to another kind are left to the operator that has its target. */
  readonly targets: ReadonlyMap<ControlPlaneKind, BackupTarget>;
  /** The namespace whose objects may refer to cluster-scoped control planes. */
  readonly platformNamespace: string;
  readonly destinations: DestinationSource;
  readonly events: Pick<ClusterEvents, 'normal' | 'warning'>;
  readonly metrics: BackupMetrics;
  readonly clock: Clock;
  readonly random: Random;
}

export interface ResolvedTarget {
  readonly target: BackupTarget;
  readonly name: TargetName;
}

/** Returns undefined if this operator has no target of the kind. */
export const targetOfKind = (
  { targets }: Pick<BackupWorld, 'targets'>,
  kind: ControlPlaneKind | undefined,
): BackupTarget | undefined => targets.get(kind ?? 'ControlPlane');

/** Returns the name of a control plane for calls to its target. Throws `ReferenceNotAllowed`. */
export function nameInTarget(
  { kind, isNamespaced }: Pick<BackupTarget, 'kind' | 'isNamespaced'>,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { platformNamespace }: Pick<BackupWorld, 'platformNamespace'>,
): TargetName {
  if (isNamespaced) return { namespace, name };
  if (namespace === platformNamespace) return { name };
  throw new ReferenceFault(
    'ReferenceNotAllowed',
    `objects in namespace ${JSON.stringify(namespace)} cannot refer to a ${kind}: create this object in namespace ${JSON.stringify(platformNamespace)}`,
  );
}

/** Returns undefined if this operator has no target of the kind. Throws `ReferenceNotAllowed`. */
export function resolveTarget(
  world: Pick<BackupWorld, 'targets' | 'platformNamespace'>,
  reference: ControlPlaneReference,
  namespace: string,
): ResolvedTarget | undefined {
  const target = targetOfKind(world, reference.kind);
  return target && { target, name: nameInTarget(target, { namespace, name: reference.name }, world) };
}
