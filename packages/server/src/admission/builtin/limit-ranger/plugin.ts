/**
 * Enforces the LimitRanges of a namespace: default requests and limits of containers, and minimum, maximum and ratio for containers, pods
 * and claims.
 */

import type { ControlPlane } from '../../../control-plane.ts';
import { Followed } from '../../../objects/followed.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission.ts';
import type { Claim } from '@hangar/api/quota';
import type { Pod } from '../pod.ts';
import { aggregate, forbid } from '../../refusal.ts';
import { claimProblems, podProblems } from './constraints.ts';
import { fillDefaults } from './defaults.ts';
import { readLimitRange } from './limit-range.ts';
import type { LimitRange } from './limit-range.ts';

const limitRanges = { group: '', version: 'v1', resource: 'limitranges' };

export function limitRanger(plane: ControlPlane): AdmissionPlugin {
  /** LimitRanges by namespace, sorted by name; rebuilt after a change. */
  let byNamespace: Map<string, LimitRange[]> | undefined;
  const followed = new Followed(plane, limitRanges, readLimitRange, () => (byNamespace = undefined));

  const rangesOf = async ({ namespace }: AdmissionRequest): Promise<readonly LimitRange[]> => {
    const all = followed.all ?? (await followed.ready());
    byNamespace ??= Map.groupBy(
      [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      (range) => range.namespace,
    );
    return byNamespace.get(namespace) ?? [];
  };

  return {
    name: 'LimitRanger',
    resources: new Set(['/pods', '/persistentvolumeclaims']),
    async mutate(request) {
      if (!isLimited(request) || request.resource.name !== 'pods') return;
      for (const range of await rangesOf(request)) fillDefaults(request.object as Pod, range);
    },
    async validate(request) {
      if (!isLimited(request)) return;
      for (const range of await rangesOf(request)) {
        const problems =
          request.resource.name === 'pods'
            ? podProblems(range, request.object as Pod)
            : claimProblems(range, request.object as Claim);
        if (problems.length > 0) throw forbid(request, aggregate(problems));
      }
    },
    close: () => followed.close(),
  };
}

/** The resources of a pod change only through the `resize` subresource. */
function isLimited({ operation, subresource, resource, old }: AdmissionRequest): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
  if (old?.metadata.deletionTimestamp !== undefined) return false;
  const isUpdate = operation === 'UPDATE';
  if (resource.name === 'pods' && isUpdate) return subresource === 'resize';
  return subresource === '';
}
