/**
 * ConversionReview v1: converts objects between versions of a definition. All versions are converted through the hub version, so that a new
 * version needs only one pair of functions.
 *
 * An API server uses only `metadata.labels` and `metadata.annotations` of the response and rejects changes of other metadata; those are
 * restored here, so that a conversion cannot break them.
 */

import { StatusError } from '@hangar/api/status';
import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import type { ApiObject, Draft } from '@hangar/client';
import { abortError, asError, breathe } from '@hangar/core';
import { cloneJson } from '../json/clone-json.ts';
import { RuntimeError } from '../errors.ts';
import { DeniedError } from './denied.ts';
import { conversionMaxBytes } from './hook.ts';
import type { Hook, HookContext } from './hook.ts';
import { badReview } from './review.ts';

/**
 * The conversion of a version from and to the hub version. The functions may change their argument; apiVersion and kind are set
 * automatically.
 */
export interface Spoke<Version extends ApiObject = ApiObject, Hub extends ApiObject = ApiObject> {
  toHub(object: Version): Draft<Hub> | Promise<Draft<Hub>>;
  fromHub(object: Hub): Draft<Version> | Promise<Draft<Version>>;
}

export interface ConversionTarget {
  readonly group: string;
  readonly kind: string;
  /** Absent: the kind in lower case with an `s`. */
  readonly plural?: string;
}

export interface ConversionOptions {
  /** The hub version, such as `v1`. */
  readonly hub: string;
  /** Conversions of all versions except the hub. */
  readonly convert: Readonly<Record<string, Spoke>>;
}

export interface Conversion {
  readonly type: 'conversion';
  readonly target: Required<ConversionTarget>;
  /** Converts an object. Rejects when the conversion fails. */
  convert(object: JsonObject, apiVersion: string): Promise<JsonObject>;
}

/** Returns a conversion hook for a CustomResourceDefinition. All versions are converted through the hub version. */
export function conversion(target: ConversionTarget, { hub, convert }: ConversionOptions): Conversion {
  const { group, kind, plural = `${kind.toLowerCase()}s` } = target;
  if (Object.hasOwn(convert, hub)) {
    throw new RuntimeError(
      'InvalidOptions',
      `${hub} of ${kind}.${group} is the hub version and must not have conversion functions`,
    );
  }
  const spokeOf = (version: string): Spoke | undefined => {
    if (version === hub) return undefined;
    if (Object.hasOwn(convert, version)) return convert[version];
    throw new StatusError('BadRequest', `${kind}.${group} has no version ${version} with conversion functions`);
  };
  return {
    type: 'conversion',
    target: { group, kind, plural },
    async convert(object, apiVersion) {
      const [from, to] = [spokeOf(versionIn(group, object['apiVersion'])), spokeOf(versionIn(group, apiVersion))];
      const hubObject =
        from === undefined ? own(object) : typed(object, await from.toHub(own(object)), `${group}/${hub}`);
      return typed(object, to === undefined ? hubObject : await to.fromHub(hubObject), apiVersion);
    },
  };
}

const own = (object: JsonObject): ApiObject => cloneJson(object) as unknown as ApiObject;

function versionIn(group: string, apiVersion: unknown): string {
  const text = typeof apiVersion === 'string' ? apiVersion : '';
  if (text.startsWith(`${group}/`)) return text.slice(group.length + 1);
  throw new StatusError('BadRequest', `${JSON.stringify(text)} is not a version of ${group}`);
}

/** Sets apiVersion and kind of the version, and restores the metadata except labels and annotations. */
function typed(original: JsonObject, converted: Draft<ApiObject>, apiVersion: string): JsonObject & ApiObject {
  if (!isObject(converted)) throw new TypeError('the conversion function did not return an object');
  const before = isObject(original['metadata']) ? original['metadata'] : {};
  const after = isObject(converted['metadata']) ? converted['metadata'] : before;
  const metadata: JsonObject = { ...before };
  for (const name of ['labels', 'annotations']) {
    if (after[name]) metadata[name] = after[name];
    else delete metadata[name];
  }
  return { ...converted, apiVersion, kind: original['kind'] as string, metadata };
}

/** Objects between two yields, so that long lists do not delay other requests. */
const givesWayAfter = 200;

const reviewVersion = 'apiextensions.k8s.io/v1';

/** All conversions of a server share one path. */
export class ConversionHook implements Hook {
  readonly type = 'conversion';
  readonly path: string;
  readonly bodyMaxBytes = conversionMaxBytes;
  readonly conversions: Conversion[] = [];

  constructor(path: string) {
    this.path = path;
  }

  async answer(review: unknown, { signal, clock, onFailure }: HookContext): Promise<JsonObject> {
    const { uid, desired, objects } = readConversionReview(review);
    try {
      const convertedObjects: JsonObject[] = [];
      for (const object of objects) {
        if (convertedObjects.length % givesWayAfter === givesWayAfter - 1) await breathe(clock);
        if (signal.aborted) throw abortError(signal);
        convertedObjects.push(await this.#convert(object, desired));
      }
      return conversionReview({ uid, convertedObjects, result: { status: 'Success' } });
    } catch (thrown) {
      return conversionReview({ uid, convertedObjects: [], result: failure(thrown, uid, onFailure) });
    }
  }

  async #convert(object: JsonObject, desired: string): Promise<JsonObject> {
    const group = String(object['apiVersion']).split('/')[0];
    const found = this.conversions.find(({ target }) => target.group === group && target.kind === object['kind']);
    if (!found)
      throw new StatusError('NotFound', `no conversion is registered for ${String(object['kind'])} of ${group}`);
    return object['apiVersion'] === desired ? object : found.convert(object, desired);
  }
}

function readConversionReview(review: unknown): { uid: string; desired: string; objects: readonly JsonObject[] } {
  if (!isObject(review) || review['apiVersion'] !== reviewVersion || review['kind'] !== 'ConversionReview') {
    throw badReview(`expected a ConversionReview of ${reviewVersion}`);
  }
  const { request } = review;
  if (!isObject(request)) throw badReview('the review has no request');
  const { uid, desiredAPIVersion: desired, objects } = request;
  if (typeof uid !== 'string' || uid === '') throw badReview('the request has no uid');
  if (typeof desired !== 'string') throw badReview('the request has no desiredAPIVersion');
  if (!Array.isArray(objects) || !objects.every(isObject)) throw badReview('the request has no objects');
  return { uid, desired, objects };
}

const conversionReview = (response: JsonObject): JsonObject => ({
  apiVersion: reviewVersion,
  kind: 'ConversionReview',
  response,
});

function failure(thrown: unknown, uid: string, onFailure: HookContext['onFailure']): object {
  if (thrown instanceof DeniedError || thrown instanceof StatusError) return thrown.status;
  onFailure(asError(thrown), uid);
  return new StatusError('InternalError', `the conversion failed; the log has the details of review ${uid}`).status;
}
