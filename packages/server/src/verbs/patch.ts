/**
 * PATCH in its four forms. JSON, merge and strategic merge patches change the live object; server-side apply declares the fields of its
 * manager, and creates a missing object. A patch without a version is retried on conflict.
 */

import {
  ApiError,
  UnclassifiedError,
  applyJsonPatch,
  applyMergePatch,
  applyObject,
  applyStrategicMergePatch,
  badRequest,
  bodyWeightMax,
  conflict,
  invalid,
  invalidObject,
  isObject,
  goText,
  jsonPatchProblems,
  parseJson,
  restoreProblem,
  tooHeavy,
  tooLarge,
  weightOf,
} from '@hangar/api';
import type { JsonObject, KubeObject, ParsedYaml } from '@hangar/api';
import { once } from '@hangar/cel/work';
import { Slicer } from '@hangar/core';
import type { Answer } from '../http/message.ts';
import { attemptsMax, bodyBytesMax } from '../limits.ts';
import { entryAnswer, wantedBy } from '../objects/answers.ts';
import { reportProblems } from '../objects/decode.ts';
import { repeatedProblems } from '../objects/repeated.ts';
import { parseYamlBody } from '../objects/yaml-body.ts';
import { patchTypeOf } from '../request/media.ts';
import type { PatchType } from '../request/media.ts';
import { writeOptions } from '../request/options.ts';
import type { WriteOptions } from '../request/options.ts';
import { groupResource, warn } from './call.ts';
import type { Call } from './call.ts';
import { ownFields } from './create.ts';
import { checkName, settleNamespace, timestamp } from './metadata.ts';
import { withOtherVersions } from './other-versions.ts';
import type { Conversion } from './other-versions.ts';
import { persist } from './persist.ts';

export async function patch(call: Call): Promise<Answer> {
  const { request, resource, query, info } = call;
  const type = patchTypeOf(request.header('content-type'), resource.struct !== undefined);
  const want = wantedBy(call);
  const bytes = await request.body(bodyBytesMax);
  const options = writeOptions(query, 'PatchOptions', type);
  const patcher = type === 'apply' ? await applyPatcher(call, bytes, options) : bodyPatcher(call, type, bytes, options);
  const { entry, wasCreated } = await persist(call, {
    options,
    allowsCreate: type === 'apply' && info.subresource === '',
    insistsOnUid: false,
    attemptsMax,
    apply: patcher,
  });
  return entryAnswer(call, want, entry, wasCreated ? 201 : 200);
}

export type Patcher = (live: KubeObject | undefined) => KubeObject | Promise<KubeObject>;

export function bodyPatcher(
  call: Call,
  type: Exclude<PatchType, 'apply'>,
  bytes: Uint8Array,
  options: WriteOptions,
): Patcher {
  const { info } = call;
  const patchOf = parsePatch(type, bytes, options);
  return async (live) => {
    const slicer = new Slicer(call.plane.clock);
    const changed = patched(type, live!, patchOf.value, call, options);
    await slicer.pause();
    checkWeight(bytes, changed);
    const object = await readPatched(call, type, changed, { patchOf, options, slicer });
    settleNamespace(call, object);
    checkName(object, info.name);
    const owning = ownFields(call, live, object, options);
    if (owning) await owning;
    return object;
  };
}

/** Smaller patches cannot make an object much larger. */
const weighedFromBytes = 16 * 1024;

/** Throws 413: several patches could make an object larger than the body limit. */
function checkWeight(patch: Uint8Array, patchedObject: unknown): void {
  if (patch.length < weighedFromBytes || !isObject(patchedObject)) return;
  // Bodies mostly have no managedFields either.
  const { metadata, ...rest } = patchedObject;
  const weighed = isObject(metadata) ? { ...metadata, managedFields: undefined } : metadata;
  if (weightOf({ ...rest, metadata: weighed }, bodyWeightMax) > bodyWeightMax) throw tooLarge(tooHeavy().message);
}

interface ParsedPatch {
  readonly value: unknown;
  /** Repeated fields and unknown members of operations: reported like unknown fields of the result. */
  readonly problems: readonly string[];
}

function parsePatch(type: Exclude<PatchType, 'apply'>, bytes: Uint8Array, options: WriteOptions): ParsedPatch {
  const isLoose = options.fieldValidation === 'Ignore';
  try {
    const { value, repeated } = parseJson(bytes, { findRepeated: !isLoose, weightMax: bodyWeightMax });
    if (isLoose) return { value, problems: [] };
    const duplicates = repeatedProblems(value, repeated);
    if (type !== 'json') return { value, problems: duplicates };
    return { value, problems: [...duplicates.map((problem) => `json patch ${problem}`), ...jsonPatchProblems(value)] };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'TooLarge') throw tooLarge(error.message);
    if (isLoose && type === 'merge') throw badRequest('Invalid JSON Patch', error);
    const where = isLoose || type === 'strategic' ? '' : 'error decoding patch: ';
    throw badRequest(`${where}${error.message}`, error);
  }
}

/** The live object has its resourceVersion, as clients see it, so that a patch may require one. */
function patched(type: PatchType, live: KubeObject, value: unknown, call: Call, options: WriteOptions): unknown {
  const loosely = { ignoreUnknownFields: options.fieldValidation === 'Ignore' };
  switch (type) {
    case 'json':
      return applyJsonPatch(live, value, loosely);
    case 'merge':
      return applyMergePatch(live, value, loosely);
    default:
      return applyStrategicMergePatch(live, value, call.resource.struct!);
  }
}

interface Reading {
  readonly patchOf: ParsedPatch;
  readonly options: WriteOptions;
  readonly slicer: Slicer;
}

async function readPatched(
  call: Call,
  type: PatchType,
  value: unknown,
  { patchOf, options, slicer }: Reading,
): Promise<KubeObject> {
  const { resource } = call;
  const refuse = (message: string): Error => {
    const shown = type === 'strategic' ? goText(patchOf.value) : JSON.stringify(value);
    return invalidObject({ group: '', kind: '' }, '', [invalid('patch', shown, message)]);
  };
  if (!isObject(value)) {
    const found = Array.isArray(value) ? 'array' : typeof value;
    throw refuse(`json: cannot unmarshal ${found} into Go value of type ${resource.version}.${resource.kind}`);
  }
  const mismatch = type === 'strategic' ? restoreProblem(resource.struct!, value) : undefined;
  if (mismatch !== undefined) throw refuse(mismatch);
  const { object, error, problems } = resource.read(value, undefined);
  if (error !== undefined) throw refuse(error);
  await slicer.pause();
  reportProblems([...patchOf.problems, ...problems], { ...options, warn: (text) => warn(call, text) }, refuse);
  resource.strategy.applyDefaults(object);
  return object;
}

export async function applyPatcher(call: Call, bytes: Uint8Array, options: WriteOptions): Promise<Patcher> {
  const { resource, info, plane } = call;
  const value = await parseApplied(call, bytes, options);
  function merge(live: KubeObject | undefined, conversion: Conversion): KubeObject {
    const { object: merged } = applyObject({
      type: resource.mergeType,
      live,
      patch: value,
      manager: options.fieldManager,
      force: options.force,
      apiVersion: resource.apiVersion,
      kind: resource.kind,
      subresource: info.subresource,
      now: timestamp(plane.clock),
      resetFields: resource.strategy.resetFields(info.subresource),
      ...conversion,
    });
    once(() => checkWeight(bytes, merged));
    const { object, error } = once(() => resource.read(merged, undefined));
    if (error !== undefined) {
      const { name = '', namespace = '' } = merged.metadata;
      const type = `${resource.group}/${resource.version}, Kind=${resource.kind}`;
      throw new UnclassifiedError(
        `failed to convert new object (${namespace}/${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ${error}`,
      );
    }
    resource.strategy.applyDefaults(object);
    if (!live && object.metadata.uid) {
      throw conflict(
        groupResource(call),
        info.name,
        `uid mismatch: the provided object specified uid ${object.metadata.uid}, and no existing object was found`,
      );
    }
    settleNamespace(call, object);
    checkName(object, info.name);
    return object;
  }
  return (live) => withOtherVersions(call, (conversion) => merge(live, conversion));
}

async function parseApplied(call: Call, bytes: Uint8Array, options: WriteOptions): Promise<JsonObject> {
  let parsed: ParsedYaml;
  try {
    const findRepeated = options.fieldValidation !== 'Ignore';
    parsed = await parseYamlBody(bytes, {
      findRepeated,
      weightMax: bodyWeightMax,
      controlPlane: call.plane.name,
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'TooLarge') throw tooLarge(error.message);
    throw badRequest(`error decoding YAML: ${error.message}`, error);
  }
  const { value, problems } = parsed;
  if (!isObject(value)) throw badRequest('error decoding YAML: the patch is not an object');
  // The merge reports unknown fields.
  if (options.fieldValidation === 'Strict' && problems.length > 0) {
    throw badRequest(`error strict decoding YAML: ${problems.join(', ')}`);
  }
  if (options.fieldValidation === 'Warn') for (const problem of problems) warn(call, problem);
  return value;
}
