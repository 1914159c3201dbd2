/**
 * pods/eviction: a deletion subject to the pod's disruption budget. The budget is decremented before the pod is deleted; if the deletion
 * fails, the budget's controller restores it after a while.
 */

import { badRequest, invalid, invalidObject, isObject, notFound, StatusError, UnclassifiedError } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { Admission } from '../admission/admission.ts';
import type { ControlPlane } from '../control-plane.ts';
import { objectKey } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import { attemptsMax } from '../limits.ts';
import { objectAnswer, wantedBy } from '../objects/answers.ts';
import { kindReader } from '../objects/kind-reader.ts';
import type { Call } from '../verbs/call.ts';
import { admissionRequest } from '../verbs/admission-request.ts';
import { checkPreconditions, deleteObject, readDeleteOptions } from '../verbs/delete.ts';
import type { DeleteOptions } from '../verbs/delete.ts';
import { budgetsOf, stillProcessed, takeDisruption } from './disruption-budget.ts';
import { isPodReady, setPodCondition } from './pod-condition.ts';
import { readPosted, succeeded } from './posted.ts';

export async function evictPod(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const { plane, info } = call;
  const { object: eviction, options } = await readPosted(call, kindReader('policy/v1', 'Eviction'));
  const request = admissionRequest(call, eviction, options);
  await plane.admission.mutate(request);
  if (eviction.metadata.name !== info.name) throw badRequest('name in URL does not match name in Eviction object');
  const deletion = deletionOf(call, eviction);
  await plane.admission.validate(request);
  await evict(call, deletion);
  return objectAnswer(call, want, succeeded, 201);
}

function deletionOf({ query, info }: Call, eviction: KubeObject): DeleteOptions {
  const given = isObject(eviction['deleteOptions']) ? eviction['deleteOptions'] : {};
  if (given['ignoreStoreReadErrorWithClusterBreakingPotential'] === true) {
    throw invalidObject({ group: 'policy', kind: 'Eviction' }, info.name, [
      invalid(
        'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential',
        true,
        'can not be set for pod eviction, try after removing the option',
      ),
    ]);
  }
  const [asked, inside] = [query.all('dryRun'), (given['dryRun'] as string[] | undefined) ?? []];
  if (asked.length > 0 && inside.length > 0 && JSON.stringify(asked) !== JSON.stringify(inside)) {
    throw new UnclassifiedError(
      `Non-matching dry-run options in request and content: [${asked.join(' ')}] and [${inside.join(' ')}]`,
    );
  }
  const { dryRun: _, ...rest } = given;
  return readDeleteOptions(rest, inside.length > 0 ? inside : asked);
}

/** Retries while a starting pod changes during an eviction. */
const conflictsMax = 20;

async function evict(call: Call, options: DeleteOptions): Promise<void> {
  for (let conflicts = 0; ; conflicts++) {
    const pod = await readPod(call);
    if (!needsNoBudget(pod)) return evictWithBudget(call, pod, options);
    try {
      return await deletePod(call, isEnding(pod) ? options : inVersion(options, pod));
    } catch (error) {
      // Unless the client requires one version, retry: the pod may have started, and then its budget applies.
      if (!isConflict(error) || options.resourceVersion !== undefined || conflicts === conflictsMax) throw error;
    }
  }
}

async function evictWithBudget(call: Call, pod: KubeObject, options: DeleteOptions): Promise<void> {
  const budgets = await budgetsOf(call.plane, pod);
  if (budgets.length > 1) {
    throw new UnclassifiedError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  }
  const [budget] = budgets;
  if (!budget) return deletePod(call, options);
  if (isPodReady(pod) || !budget.allowsUnready) {
    await takeDisruption(call.plane, budget, pod.metadata.name!, options.isDryRun);
    return deletePod(call, options);
  }
  try {
    // The pod must still be the version that was not ready.
    await deletePod(call, inVersion(options, pod));
  } catch (error) {
    throw isConflict(error) && options.resourceVersion === undefined ? stillProcessed(budget.name) : error;
  }
}

async function readPod({ plane, resource, info }: Call): Promise<KubeObject> {
  const { entry } = await plane.store.get(objectKey(plane, resource, info.namespace, info.name));
  if (!entry) throw notFound({ group: '', resource: 'pods' }, info.name);
  return resource.stored.object(entry);
}

const phaseOf = (pod: KubeObject): string => (pod['status'] as { phase?: string } | undefined)?.phase ?? '';

const isEnding = (pod: KubeObject): boolean =>
  ['Succeeded', 'Failed'].includes(phaseOf(pod)) || pod.metadata.deletionTimestamp !== undefined;

/** The pod does not serve clients: it is terminating, finished or not started. */
const needsNoBudget = (pod: KubeObject): boolean => isEnding(pod) || phaseOf(pod) === 'Pending';

const inVersion = (options: DeleteOptions, pod: KubeObject): DeleteOptions =>
  options.resourceVersion === undefined ? { ...options, resourceVersion: pod.metadata.resourceVersion! } : options;

const isConflict = (error: unknown): boolean => error instanceof StatusError && error.code === 'Conflict';

/** The eviction itself was already admitted. */
const noAdmission = (plane: ControlPlane): Admission => new Admission(() => [], plane);

async function deletePod(call: Call, options: DeleteOptions): Promise<void> {
  const pod = options.isDryRun ? undefined : await markAsDisrupted(call, options);
  const isVersioned = options.resourceVersion !== undefined && pod !== undefined;
  const deletion = { ...call, plane: { ...call.plane, admission: noAdmission(call.plane) } };
  await deleteObject(
    deletion,
    call.info.name,
    isVersioned ? { ...options, resourceVersion: pod.metadata.resourceVersion! } : options,
  );
}

/** Adds the reason of the disruption to the pod's status. */
async function markAsDisrupted(call: Call, options: DeleteOptions): Promise<KubeObject> {
  const { plane, resource, info } = call;
  const key = objectKey(plane, resource, info.namespace, info.name);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { entry } = await plane.store.get(key);
    if (!entry) throw notFound({ group: '', resource: 'pods' }, info.name);
    const pod = resource.stored.object(entry);
    checkPreconditions(call, pod, options);
    setPodCondition(pod, disrupted, plane.clock.now());
    const value = resource.stored.encode(pod);
    if (Buffer.compare(value, entry.value) === 0) return pod;
    const result = await plane.store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
    if (!result.committed) continue;
    pod.metadata.resourceVersion = String(result.revision);
    return pod;
  }
  throw new StatusError('Conflict', `the pod ${info.name} changes too often`);
}

const disrupted: JsonObject & { type: string; status: 'True' } = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};
