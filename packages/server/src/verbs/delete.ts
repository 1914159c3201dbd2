/**
 * DELETE of one object or of a collection. An object is removed immediately, unless a grace period (pods), finalizers, or dependents keep
 * it; then it is marked, and removed when the last of these is gone.
 */

import {
  ApiError,
  badRequest,
  bodyWeightMax,
  checkFields,
  conflict,
  invalid,
  invalidObject,
  isObject,
  LazyList,
  notFound,
  notSupported,
  parseJson,
  schemaOf,
  decodeProtobuf,
  staleObject,
  tooLarge,
} from '@hangar/api';
import { eachAtOnce } from '@hangar/core';
import type { DependentsPolicy, FieldError, JsonObject, KubeObject, StatusError } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { objectKey } from '../control-plane.ts';
import type { Answer } from '../http/message.ts';
import { bodyBytesMax, unconditionalAttemptsMax } from '../limits.ts';
import { objectAnswer, piecesAnswer, wantedBy } from '../objects/answers.ts';
import { encodedPieces } from '../objects/pieces.ts';
import { parseYamlBody } from '../objects/yaml-body.ts';
import { sentFormat, wanted } from '../request/media.ts';
import { dryRunErrors } from '../request/options.ts';
import { groupResource, namespaceOf, warn } from './call.ts';
import type { Call } from './call.ts';
import { admissionRequest } from './admission-request.ts';
import { withoutType } from './list.ts';
import { readVisiblePage } from './visible.ts';
import { listOptions } from './list-options.ts';
import { timestamp } from './metadata.ts';

export interface DeleteOptions {
  readonly isDryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly propagation: 'Orphan' | 'Background' | 'Foreground' | undefined;
  /** The deprecated form of Orphan or Background. */
  readonly orphanDependents: boolean | undefined;
}

export async function deleteOne(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const options = await deleteOptions(call);
  const { object, wasDeleted } = await deleteObject(call, call.info.name, options);
  const isAccepted = !wasDeleted && options.orphanDependents === false;
  return objectAnswer(call, want, object, isAccepted ? 202 : 200);
}

/** Objects per page; the next page is read when these are deleted. */
const pageSize = 1_000;
/** Concurrent deletions, which share one sync of the disk. */
const deletedAtOnce = 32;

/** An object whose deletion conflicts is kept. The others are deleted, then the first conflict is returned. */
export async function deleteCollection(call: Call): Promise<Answer> {
  const { resource, request } = call;
  // The list is returned unconverted: for custom resources, never as protobuf. Refused before anything is deleted.
  const isBuiltin = resource.struct !== undefined;
  const want = wanted(request.header('accept'), { hasProtobuf: isBuiltin, allowsShapes: isBuiltin });
  const listed = listOptions(call.query, resource, false);
  const options = await deleteOptions(call);
  const deleted: Entry[] = [];
  let refused: StatusError | undefined;
  let { continueToken } = listed;
  let metadata: JsonObject;
  do {
    const page = await readVisiblePage(call, { ...listed, continueToken, limit: listed.limit || pageSize });
    metadata = { ...page.metadata };
    for (const entry of page.entries) deleted.push(entry);
    await eachAtOnce(deletedAtOnce, page.entries, async (entry) => {
      const object = resource.stored.partial(entry);
      await deleteObject(namespacedCall(call, object), object.metadata.name!, options).catch((error: StatusError) => {
        if (error.code === 'Conflict') refused ??= error;
        else if (error.code !== 'NotFound') throw error;
      });
    });
    continueToken = page.metadata.continue ?? '';
  } while (continueToken !== '' && listed.limit === 0);
  if (refused) throw refused;
  const objects = LazyList.of(deleted, (entry) => resource.stored.object(entry));
  const list: JsonObject = {
    kind: resource.listKind,
    apiVersion: resource.apiVersion,
    metadata: resource.struct ? metadata : { continue: '', ...metadata },
    items: resource.struct ? objects.map(withoutType) : objects,
  };
  return piecesAnswer(call, want, encodedPieces(list, want.format));
}

/** In a collection of all namespaces, each object is deleted in its own namespace. */
function namespacedCall(call: Call, object: KubeObject): Call {
  const { namespace } = object.metadata;
  if (!call.resource.namespaced || call.info.namespace === namespace) return call;
  return { ...call, info: { ...call.info, namespace: namespace! } };
}

interface Deleted {
  /** The object, or a Status. */
  readonly object: JsonObject;
  readonly wasDeleted: boolean;
}

export async function deleteObject(call: Call, name: string, asked: DeleteOptions): Promise<Deleted> {
  const { plane, resource } = call;
  const key = objectKey(plane, resource, namespaceOf(call), name);
  let options = asked;
  for (let attempt = 0; attempt < unconditionalAttemptsMax; attempt++) {
    const { entry } = await plane.store.get(key);
    if (!entry) throw notFound(groupResource(call), name);
    const object = resource.stored.object(entry);
    checkPreconditions(call, object, options);
    const admitted = admissionRequest(call, undefined, { ...options, deleteOptions: optionsObject(options) }, object);
    await plane.admission.mutate(admitted);
    await plane.admission.validate(admitted);
    const step = nextStep(call, object, options);
    if (step === 'wait') return { object: finished(call, object), wasDeleted: false };
    const deleted = await (step === 'end' ? end(call, entry, object, options) : mark(call, entry, object, options));
    if (deleted && step !== 'announce') return deleted;
    // The announcement created a new version; a precondition refers to the version before it.
    if (deleted && options.resourceVersion !== undefined) {
      options = { ...asked, resourceVersion: object.metadata.resourceVersion };
    }
  }
  throw conflict(groupResource(call), name, staleObject);
}

export function checkPreconditions(call: Call, object: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = object.metadata;
  const kind = { group: call.resource.group, resource: call.resource.kind };
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(
      kind,
      object.metadata.name!,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw conflict(
      kind,
      object.metadata.name!,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** `announce`: watchers see the mark, then the object is removed. */
type Step = 'end' | 'mark' | 'announce' | 'wait';

/** Returns the next step, and changes the object if it is to be marked. */
function nextStep({ plane, resource }: Call, object: KubeObject, options: DeleteOptions): Step {
  const { metadata } = object;
  const hadFinalizers = JSON.stringify(metadata.finalizers ?? []);
  resource.deletion.onDelete?.(object, timestamp(plane.clock));
  const finalizers = finalizersFor(resource.deletion.dependents, metadata.finalizers ?? [], options);
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
  const isHeld = finalizers.length > 0 || resource.deletion.isHeld(object);
  const grace = graceOf(object, resource, options);
  if (grace === 'pending') return 'wait';
  if (grace !== undefined) {
    if (metadata.generation !== undefined && metadata.deletionTimestamp === undefined) metadata.generation++;
    metadata.deletionTimestamp = timestamp(plane.clock, grace);
    metadata.deletionGracePeriodSeconds = grace;
    if (grace > 0 || isHeld) return 'mark';
    return options.isDryRun ? 'end' : 'announce';
  }
  if (!isHeld) return 'end';
  if (metadata.deletionTimestamp !== undefined && hadFinalizers === JSON.stringify(finalizers)) {
    return (metadata.deletionGracePeriodSeconds ?? 0) === 0 ? 'mark' : 'wait';
  }
  return 'mark';
}

/**
 * Returns the seconds until removal; undefined if there is no grace period, `pending` if it is already terminating and this changes
 * nothing.
 */
function graceOf(
  object: KubeObject,
  resource: Call['resource'],
  options: DeleteOptions,
): number | undefined | 'pending' {
  const { deletionTimestamp, deletionGracePeriodSeconds: running } = object.metadata;
  const requested =
    options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0 ? 1 : options.gracePeriodSeconds;
  if (deletionTimestamp === undefined) return resource.deletion.graceSeconds(object, requested);
  if (running === undefined || running === 0) return undefined;
  if (requested === undefined || requested >= running) return 'pending';
  return requested;
}

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

function finalizersFor(dependents: DependentsPolicy, current: readonly string[], options: DeleteOptions): string[] {
  if (dependents === 'unsupported') return [...current];
  const others = current.filter((one) => one !== orphan && one !== foreground);
  const asked =
    options.orphanDependents !== undefined
      ? options.orphanDependents
        ? 'Orphan'
        : 'Background'
      : (options.propagation ?? undefined);
  const policy =
    asked ??
    (current.includes(orphan)
      ? 'Orphan'
      : current.includes(foreground)
        ? 'Foreground'
        : dependents === 'orphan'
          ? 'Orphan'
          : 'Background');
  if (policy === 'Orphan') return [...others, orphan];
  return policy === 'Foreground' ? [...others, foreground] : others;
}

async function end(call: Call, entry: Entry, object: KubeObject, options: DeleteOptions): Promise<Deleted | undefined> {
  if (options.isDryRun) return { object: finished(call, object), wasDeleted: true };
  const { plane, resource } = call;
  const released = (await resource.allocation?.remove({ plane, isDryRun: false }, object)) ?? [];
  const result = await plane.store.commit([
    { type: 'delete', key: entry.key, expected: entry.modRevision },
    ...released,
  ]);
  if (!result.committed) return undefined;
  await resource.settled?.(plane, result.revision);
  object.metadata.resourceVersion = String(result.revision);
  return { object: finished(call, object), wasDeleted: true };
}

async function mark(
  call: Call,
  entry: Entry,
  object: KubeObject,
  options: DeleteOptions,
): Promise<Deleted | undefined> {
  const { plane, resource } = call;
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) {
    if (metadata.generation !== undefined) metadata.generation++;
    metadata.deletionTimestamp = timestamp(plane.clock);
    metadata.deletionGracePeriodSeconds = 0;
  }
  resource.deletion.onMark?.(object);
  const value = resource.stored.encode(object);
  if (options.isDryRun || Buffer.compare(value, entry.value) === 0) return { object, wasDeleted: false };
  const result = await plane.store.commit([{ type: 'put', key: entry.key, value, expected: entry.modRevision }]);
  if (!result.committed) return undefined;
  metadata.resourceVersion = String(result.revision);
  return { object, wasDeleted: false };
}

function finished(call: Call, object: KubeObject): JsonObject {
  const { resource } = call;
  if (resource.deletion.returnsObject) return object;
  const { name, uid } = object.metadata;
  const group = resource.group === '' ? {} : { group: resource.group };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...group, kind: resource.name, uid },
  };
}

async function deleteOptions(call: Call): Promise<DeleteOptions> {
  const { request } = call;
  const bytes = await request.body(bodyBytesMax);
  const value = bytes.length > 0 ? await parseOptions(call, bytes) : optionsFromQuery(call);
  const options = readDeleteOptions(value, []);
  const { warning } = call.resource.deletion;
  const isSilent = options.propagation === undefined && options.orphanDependents === undefined;
  if (warning !== undefined && isSilent) warn(call, warning);
  return options;
}

/** Throws 422. `otherDryRun` applies if the options have no dryRun. */
export function readDeleteOptions(value: JsonObject, otherDryRun: readonly string[]): DeleteOptions {
  const dryRun = Array.isArray(value['dryRun']) ? (value['dryRun'] as string[]) : otherDryRun;
  const propagation = textOf(value['propagationPolicy']);
  const orphanDependents = value['orphanDependents'];
  const errors: FieldError[] = [];
  if (propagation !== undefined && typeof orphanDependents === 'boolean') {
    errors.push(
      invalid('propagationPolicy', propagation, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  }
  if (propagation !== undefined && !['Foreground', 'Background', 'Orphan'].includes(propagation)) {
    errors.push(notSupported('propagationPolicy', propagation, ['Foreground', 'Background', 'Orphan', 'nil']));
  }
  errors.push(...dryRunErrors(dryRun));
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  const preconditions = isObject(value['preconditions']) ? value['preconditions'] : {};
  const grace = value['gracePeriodSeconds'];
  return {
    isDryRun: dryRun.includes('All'),
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    uid: textOf(preconditions['uid']),
    resourceVersion: textOf(preconditions['resourceVersion']),
    propagation: propagation as DeleteOptions['propagation'],
    orphanDependents: typeof orphanDependents === 'boolean' ? orphanDependents : undefined,
  };
}

/** Converts the options back to an object, for admission. */
function optionsObject(options: DeleteOptions): JsonObject {
  const { isDryRun, gracePeriodSeconds, uid, resourceVersion, propagation, orphanDependents } = options;
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...(isDryRun ? { dryRun: ['All'] } : {}),
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Used only without a body: a body replaces the query. */
function optionsFromQuery({ query }: Call): JsonObject {
  return {
    dryRun: query.all('dryRun'),
    gracePeriodSeconds: query.integer('gracePeriodSeconds'),
    propagationPolicy: query.text('propagationPolicy'),
    orphanDependents: query.flag('orphanDependents'),
    preconditions: { uid: query.text('uid'), resourceVersion: query.text('resourceVersion') },
  };
}

async function parseOptions({ request, plane }: Call, bytes: Uint8Array): Promise<JsonObject> {
  const format = sentFormat(request.header('content-type'), true);
  let value: unknown;
  try {
    if (format === 'protobuf') value = decodeProtobuf(bytes, { apiVersion: 'v1', kind: 'DeleteOptions' });
    else if (format === 'yaml') {
      const options = { findRepeated: false, weightMax: bodyWeightMax, controlPlane: plane.name };
      ({ value } = await parseYamlBody(bytes, options));
    } else ({ value } = parseJson(bytes, { weightMax: bodyWeightMax }));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'TooLarge') throw tooLarge(error.message);
    throw badRequest(error.message, error);
  }
  if (!isObject(value)) throw badRequest('decoded object cannot be converted to DeleteOptions');
  const { error } = checkFields(schemaOf('v1', 'DeleteOptions')!, value);
  if (error !== undefined) throw badRequest(error);
  const { kind } = value;
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') {
    throw badRequest('decoded object cannot be converted to DeleteOptions');
  }
  return value;
}
