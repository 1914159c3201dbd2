/** pods/binding, and the older `bindings`: assigns a pod to a node. */

import { badRequest, conflict, fieldErrorText, notFound, notSupported, required, UnclassifiedError } from '@hangar/api';
import type { FieldError, KubeObject } from '@hangar/api';
import { objectKey } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import { unconditionalAttemptsMax } from '../limits.ts';
import { objectAnswer, wantedBy } from '../objects/answers.ts';
import { kindReader } from '../objects/kind-reader.ts';
import { admissionRequest } from '../verbs/admission-request.ts';
import type { Call } from '../verbs/call.ts';
import { setPodCondition } from './pod-condition.ts';
import { readPosted, succeeded } from './posted.ts';

interface Binding extends KubeObject {
  target?: { kind?: string; name?: string };
}

const pods = { group: '', version: 'v1', resource: 'pods' };
const refused = { group: '', resource: 'pods/binding' };

export async function bindPod(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const { plane } = call;
  const isSubresource = call.info.subresource !== '';
  const { object: binding, options } = await readPosted(call, kindReader('v1', 'Binding'), {
    keepsSystemFields: isSubresource,
  });
  const request = admissionRequest(call, binding, options);
  await plane.admission.mutate(request);
  const { name = '' } = binding.metadata;
  if (isSubresource && name !== call.info.name) throw badRequest('name in URL does not match name in Binding object');
  const errors = bindingErrors(binding);
  if (errors.length > 0) throw new UnclassifiedError(aggregate(errors));
  await plane.admission.validate(request);
  await assign(call, binding, options.isDryRun);
  return objectAnswer(call, want, succeeded, 201);
}

function bindingErrors({ target }: Binding): FieldError[] {
  const errors: FieldError[] = [];
  const { kind = '', name = '' } = target ?? {};
  if (kind !== '' && kind !== 'Node') errors.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  if (name === '') errors.push(required('target.name', ''));
  return errors;
}

const aggregate = (errors: readonly FieldError[]): string =>
  errors.length === 1 ? fieldErrorText(errors[0]!) : `[${errors.map(fieldErrorText).join(', ')}]`;

/** Writes directly to the store: a binding changes immutable fields, and records no field manager. */
async function assign({ plane, info }: Call, binding: Binding, isDryRun: boolean): Promise<void> {
  const { name = '' } = binding.metadata;
  const resource = plane.catalogue.find(pods)!;
  const key = objectKey(plane, resource, info.namespace, name);
  for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
    const { entry } = await plane.store.get(key);
    if (!entry) throw notFound({ group: '', resource: 'pods' }, name);
    const pod = resource.stored.object(entry);
    checkExpected(binding, pod, key.replace(plane.prefix, '/registry/'));
    const problem = whyNot(pod);
    if (problem !== undefined) throw conflict(refused, name, problem);
    bind(pod, binding, plane.clock.now());
    if (isDryRun) return;
    const value = resource.stored.encode(pod);
    const result = await plane.store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
    if (result.committed) return;
  }
  throw conflict(refused, name, 'the pod changes too often');
}

/** A binding may specify the uid and version of the pod. */
function checkExpected({ metadata }: Binding, pod: KubeObject, key: string): void {
  const rules = [
    { what: 'UID', given: metadata.uid, is: pod.metadata.uid },
    { what: 'ResourceVersion', given: metadata.resourceVersion, is: pod.metadata.resourceVersion },
  ];
  for (const { what, given, is } of rules) {
    if (!given || given === is) continue;
    throw conflict(
      { group: '', resource: 'pods' },
      pod.metadata.name!,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${is}`,
    );
  }
}

function whyNot(pod: KubeObject): string | undefined {
  const { name, deletionTimestamp } = pod.metadata;
  const spec = (pod['spec'] ?? {}) as { nodeName?: string; schedulingGates?: unknown[] };
  if (deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (spec.nodeName) return `pod ${name} is already assigned to node "${spec.nodeName}"`;
  if (spec.schedulingGates?.length) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}

function bind(pod: KubeObject, { metadata, target }: Binding, now: number): void {
  (pod['spec'] as { nodeName?: string }).nodeName = target!.name!;
  delete (pod['status'] as { nominatedNodeName?: string } | undefined)?.nominatedNodeName;
  for (const name of ['annotations', 'labels'] as const) {
    const given = metadata[name];
    if (given && Object.keys(given).length > 0) pod.metadata[name] = { ...pod.metadata[name], ...given };
  }
  setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, now);
}
