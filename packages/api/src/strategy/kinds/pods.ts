/** Pods and their subresources. */

import { isAbsent, isEmpty, numberAt, objectAt, objectsAt, stringAt, structAt } from '../../defaults/access.ts';
import { schemaOf } from '../../builtin/schemas.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { keepMetadata, restore, statusMetadata } from '../metadata.ts';
import { applyAppArmorAnnotations } from '../pod/app-armor.ts';
import { dropDisabledPodFields } from '../pod/disabled-fields.ts';
import { applyLabelKeys } from '../pod/label-keys.ts';
import { qosClass } from '../../defaults/quality-of-service.ts';
import type { Create, KindRules } from '../rules.ts';
import { equalAt } from '../../fields/semantic-equality.ts';

const createPod: Create = (object, now) => {
  const spec = structAt(object, 'spec');
  const status: JsonObject = { phase: 'Pending', qosClass: qosClass(spec) };
  object['status'] = status;
  dropDisabledPodFields(spec, undefined);
  if (objectsAt(spec, 'schedulingGates').length > 0) status['conditions'] = [gatedCondition(now())];
  applyLabelKeys(spec, object.metadata.labels ?? {});
  applyAppArmorAnnotations(object);
};

const gatedCondition = (lastTransitionTime: string): JsonObject => ({
  type: 'PodScheduled',
  status: 'False',
  lastTransitionTime,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

export const podRules: Readonly<Record<string, KindRules>> = {
  Pod: {
    generation: { first: 1, of: ['spec'] },
    create: createPod,
    update: (object, old) => dropDisabledPodFields(objectAt(object, 'spec'), objectAt(old, 'spec')),
    // Old kubelets would corrupt the owners, and the status does not delete a pod.
    statusKeeps: ['ownerReferences'],
    updateStatus,
    statusResets: ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
    subresources: {
      ephemeralcontainers: {
        update: (object, old) =>
          updatePart(object, old, (spec, before) => withField(before, spec, 'ephemeralContainers')),
        resets: [],
      },
      resize: {
        update: resize,
        resets: [],
      },
    },
  },
};

function updateStatus(object: KubeObject, old: KubeObject): void {
  delete object.metadata.deletionTimestamp;
  const status = structAt(object, 'status');
  const before = objectAt(old, 'status') ?? {};
  for (const name of ['qosClass', 'observedGeneration']) {
    if (isEmpty(status[name]) && !isEmpty(before[name])) status[name] = before[name];
  }
  keepObservedGenerations(objectsAt(status, 'conditions'), objectsAt(before, 'conditions'));
  dropDisabledPodFields(objectAt(object, 'spec'), objectAt(old, 'spec'));
  if (isEmpty(before['nodeAllocatableResourceClaimStatuses'])) delete status['nodeAllocatableResourceClaimStatuses'];
}

/** Conditions of one type are matched in order: several are allowed. */
function keepObservedGenerations(conditions: readonly JsonObject[], before: readonly JsonObject[]): void {
  const known = new Map<string, number[]>();
  // Reversed, so that removing from the end goes from the first to the last.
  for (const condition of before.toReversed()) {
    const type = stringAt(condition, 'type');
    const generations = known.get(type) ?? [];
    generations.push(numberAt(condition, 'observedGeneration'));
    known.set(type, generations);
  }
  for (const condition of conditions) {
    const generation = known.get(stringAt(condition, 'type'))?.pop() ?? 0;
    if (isEmpty(condition['observedGeneration']) && generation !== 0) condition['observedGeneration'] = generation;
  }
}

/** Takes only a part of the new spec: the rest of the object stays. */
function updatePart(
  object: KubeObject,
  old: KubeObject,
  merge: (spec: JsonObject, before: JsonObject) => JsonObject,
): void {
  object['spec'] = merge(objectAt(object, 'spec') ?? {}, objectAt(old, 'spec') ?? {});
  restore(object, old, 'status');
  keepMetadata(object, old, statusMetadata);
  countGeneration(object, old);
}

function countGeneration(object: KubeObject, old: KubeObject): void {
  dropDisabledPodFields(objectAt(object, 'spec'), objectAt(old, 'spec'));
  if (equalAt(schemaOf('v1', 'Pod')!, 'spec', object, old)) return;
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function withField(before: JsonObject, spec: JsonObject, ...names: string[]): JsonObject {
  const merged = { ...before };
  for (const name of names) {
    if (isAbsent(spec[name])) delete merged[name];
    else merged[name] = spec[name];
  }
  return merged;
}

/** Only resources change. If containers were added, removed or moved, everything is kept for validation to refuse. */
function resize(object: KubeObject, old: KubeObject): void {
  const [spec, before] = [objectAt(object, 'spec'), objectAt(old, 'spec')];
  const hasSameLength = (name: string): boolean => objectsAt(spec, name).length === objectsAt(before, name).length;
  if (!hasSameLength('containers') || !hasSameLength('initContainers')) return countGeneration(object, old);
  updatePart(object, old, (now, was) => {
    const merged = withField(was, now, 'resources');
    for (const name of ['containers', 'initContainers']) {
      if (!isAbsent(now[name])) merged[name] = resizeContainers(objectsAt(now, name), objectsAt(was, name));
    }
    return merged;
  });
}

function resizeContainers(containers: readonly JsonObject[], before: readonly JsonObject[]): readonly JsonObject[] {
  if (containers.some((one, i) => one['name'] !== before[i]?.['name'])) return containers;
  return containers.map((one, i) => withField(before[i]!, one, 'resources', 'resizePolicy'));
}
