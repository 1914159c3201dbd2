/** Persistent volumes, their claims, and storage.k8s.io. */

import { isAbsent, isEmpty, objectAt, stringAt, structAt } from '../../defaults/access.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { statusMetadata } from '../metadata.ts';
import type { Create, KindRules, Update } from '../rules.ts';

const createVolume: Create = (object, now) => {
  object['status'] = { phase: 'Pending', lastPhaseTransitionTime: now() };
};

/** Sets the time of a phase change. */
const updateVolumeStatus: Update = (object, old, now) => {
  const status = structAt(object, 'status');
  const before = objectAt(old, 'status') ?? {};
  const [time, oldTime] = [status['lastPhaseTransitionTime'], before['lastPhaseTransitionTime']];
  const isSamePhase = stringAt(status, 'phase') === stringAt(before, 'phase');
  if (isSamePhase && isAbsent(time) && !isAbsent(oldTime)) status['lastPhaseTransitionTime'] = oldTime;
  else if (!isSamePhase && (isAbsent(time) || time === oldTime)) status['lastPhaseTransitionTime'] = now();
};

export const storageRules: Readonly<Record<string, KindRules>> = {
  PersistentVolume: { create: createVolume, updateStatus: updateVolumeStatus },
  PersistentVolumeClaim: { create: createClaim, update: updateClaim },
  'storage.k8s.io/CSIDriver': {
    needsResourceVersion: true,
    generation: { first: 0, of: ['spec'] },
    create: (object) => dropSchedulingHint(object, undefined),
    update: dropSchedulingHint,
  },
  'storage.k8s.io/CSINode': { needsResourceVersion: true },
  'storage.k8s.io/CSIStorageCapacity': { needsResourceVersion: true },
  'storage.k8s.io/VolumeAttachment': {
    needsResourceVersion: true,
    statusKeeps: statusMetadata,
    statusResets: ['metadata', 'spec'],
  },
};

function createClaim(object: KubeObject): void {
  object['status'] = { phase: 'Pending' };
  prepareDataSources(structAt(object, 'spec'), undefined);
}

function updateClaim(object: KubeObject, old: KubeObject): void {
  prepareDataSources(structAt(object, 'spec'), objectAt(old, 'spec'));
}

const sourceKinds: ReadonlySet<string> = new Set(['/PersistentVolumeClaim', 'snapshot.storage.k8s.io/VolumeSnapshot']);

/**
 * `dataSource` is older and drops unsupported sources; `dataSourceRef` may be anything. Each sets the other. Sources in other namespaces
 * are a feature that is off.
 */
function prepareDataSources(spec: JsonObject, old: JsonObject | undefined): void {
  const hadReference = !isAbsent(old?.['dataSourceRef']);
  const isForeign = !isEmpty(objectAt(spec, 'dataSourceRef')?.['namespace']);
  if (isForeign && !hadReference) delete spec['dataSourceRef'];
  const reference = objectAt(spec, 'dataSourceRef');
  const source = objectAt(spec, 'dataSource');
  const isKnown = sourceKinds.has(`${stringAt(source, 'apiGroup')}/${stringAt(source, 'kind')}`);
  if (reference === undefined && source !== undefined) {
    if (isKnown || hadReference || !isAbsent(old?.['dataSource'])) spec['dataSourceRef'] = { ...source };
    else delete spec['dataSource'];
  } else if (reference !== undefined && source === undefined && isEmpty(reference['namespace'])) {
    const { namespace: _namespace, ...local } = reference;
    spec['dataSource'] = local;
  }
}

function dropSchedulingHint(object: KubeObject, old: KubeObject | undefined): void {
  const spec = objectAt(object, 'spec');
  const name = 'preventPodSchedulingIfMissing';
  if (spec !== undefined && isAbsent(objectAt(old, 'spec')?.[name])) delete spec[name];
}
