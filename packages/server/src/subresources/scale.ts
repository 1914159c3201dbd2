/** The scale subresource: the number of replicas that autoscalers and `kubectl scale` read and write. */

import { invalid, invalidObject } from '@hangar/api';
import { Slicer } from '@hangar/core';
import type { KubeObject } from '@hangar/api';
import type { Answer } from '../http/message.ts';
import { attemptsMax, bodyBytesMax, unconditionalAttemptsMax } from '../limits.ts';
import { objectAnswer, wantedBy } from '../objects/answers.ts';
import { decodeObject } from '../objects/decode.ts';
import { patchTypeOf, sentFormat } from '../request/media.ts';
import { writeOptions } from '../request/options.ts';
import type { WriteOptions } from '../request/options.ts';
import { admissionRequest } from '../verbs/admission-request.ts';
import { warn } from '../verbs/call.ts';
import type { Call } from '../verbs/call.ts';
import { ownFields } from '../verbs/create.ts';
import { existingEntry } from '../verbs/get.ts';
import { checkName, settleNamespace } from '../verbs/metadata.ts';
import { applyPatcher, bodyPatcher } from '../verbs/patch.ts';
import { persist } from '../verbs/persist.ts';
import { managersAfterScale, managersOfScale } from './scale-managers.ts';
import { scaleResourceOf } from './scale-resource.ts';

/** Returns the same request with the scale as its resource. */
const scaleCall = (call: Call): Call => ({ ...call, resource: scaleResourceOf(call.resource) });

const scaleOf = ({ resource }: Call, object: KubeObject): KubeObject => resource.scale!.scaleOf(object);

export async function getScale(call: Call): Promise<Answer> {
  const inner = scaleCall(call);
  const want = wantedBy(inner);
  const entry = await existingEntry(call);
  return objectAnswer(inner, want, scaleOf(call, call.resource.stored.object(entry)));
}

export async function updateScale(call: Call): Promise<Answer> {
  const { request, query, info } = call;
  const inner = scaleCall(call);
  const bytes = await request.body(bodyBytesMax);
  const options = writeOptions(query, 'UpdateOptions');
  const { fieldValidation } = options;
  const format = sentFormat(request.header('content-type'), true);
  const slicer = new Slicer(call.plane.clock);
  const decode = async (): Promise<KubeObject> => {
    const { resource } = inner;
    const scale = await decodeObject(bytes, {
      resource,
      controlPlane: call.plane.name,
      format,
      slicer,
      fieldValidation,
      warn: (text) => warn(call, text),
    });
    settleNamespace(call, scale);
    checkName(scale, info.name);
    return scale;
  };
  await decode();
  return write(call, options, unconditionalAttemptsMax, async (current) => {
    const scale = await decode();
    await ownFields(inner, current, scale, options);
    return scale;
  });
}

export async function patchScale(call: Call): Promise<Answer> {
  const { request, query } = call;
  const inner = scaleCall(call);
  // Custom resources have no strategic merge patch, nor do their scales.
  const type = patchTypeOf(request.header('content-type'), call.resource.struct !== undefined);
  const bytes = await request.body(bodyBytesMax);
  const options = writeOptions(query, 'PatchOptions', type);
  const patcher =
    type === 'apply' ? await applyPatcher(inner, bytes, options) : bodyPatcher(inner, type, bytes, options);
  return write(call, options, attemptsMax, patcher);
}

async function write(
  call: Call,
  options: WriteOptions,
  attempts: number,
  change: (current: KubeObject) => KubeObject | Promise<KubeObject>,
): Promise<Answer> {
  const { resource, info } = call;
  const inner = scaleCall(call);
  const want = wantedBy(inner);
  const { entry } = await persist(call, {
    options,
    allowsCreate: false,
    insistsOnUid: true,
    attemptsMax: attempts,
    // Admission sees the scale, not the scaled object.
    seenAs: (object) => scaleBefore(call, object),
    async apply(live) {
      const current = currentScale(call, live!);
      const scale = await change(current);
      await call.plane.admission.mutate(admissionRequest(call, scale, options, current));
      settleNamespace(call, scale);
      // Custom resources validate their own field.
      if (resource.struct) checkScale(scale, info.name);
      return scaledObject(call, live!, scale);
    },
  });
  return objectAnswer(inner, want, scaleOf(call, resource.stored.object(entry)));
}

/** Also if the number is not set yet. */
const scaleBefore = ({ resource: { scale } }: Call, object: KubeObject): KubeObject =>
  scale!.scaleBeforeUpdate?.(object) ?? scale!.scaleOf(object);

function currentScale(call: Call, live: KubeObject): KubeObject {
  const scale = scaleBefore(call, live);
  const managers = managersOfScale(live.metadata.managedFields ?? [], call.resource.scale!.replicasPath);
  return managers.length > 0 ? { ...scale, metadata: { ...scale.metadata, managedFields: managers } } : scale;
}

function checkScale(scale: KubeObject, name: string): void {
  const { replicas = 0 } = (scale['spec'] ?? {}) as { replicas?: number };
  if (replicas >= 0) return;
  throw invalidObject({ group: 'autoscaling', kind: 'Scale' }, name, [
    invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
  ]);
}

function scaledObject({ resource }: Call, live: KubeObject, scale: KubeObject): KubeObject {
  const object = structuredClone(live);
  const { applyScale, replicasPath: path } = resource.scale!;
  applyScale(object, scale);
  const { resourceVersion, uid, managedFields = [] } = scale.metadata;
  if (uid) object.metadata.uid = uid;
  if (resourceVersion) object.metadata.resourceVersion = resourceVersion;
  // Custom resources must not be overwritten without a version: use the live one.
  else if (resource.struct) delete object.metadata.resourceVersion;
  else object.metadata.resourceVersion = live.metadata.resourceVersion!;
  const { apiVersion } = resource;
  object.metadata.managedFields = managersAfterScale(live.metadata.managedFields ?? [], managedFields, {
    path,
    apiVersion,
  });
  return object;
}
