/**
 * The searchable content of an object: names, labels, annotations and the values of its fields, as bounded plain text.
 *
 * Values of Secrets are never part of a document, nor are managedFields and the annotation of `kubectl apply`, which repeats the whole
 * object.
 */

import type { JsonObject } from '@hangar/api';
import { isObject } from '@hangar/api';

/** Identifies the object of a document. */
export interface DocumentKey {
  readonly cluster: string;
  /** '' is the core group. */
  readonly group: string;
  readonly resource: string;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

export interface Document extends DocumentKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `key=value`, separated by line breaks. */
  readonly labels: string;
  /** Annotations and values of fields, separated by line breaks. */
  readonly body: string;
  /** Names in the rules of a role; undefined for other kinds. */
  readonly grants?: readonly NameGrant[];
}

/** A rule of a role that is limited to one object. `*` matches all groups, resources or names. */
export interface NameGrant {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
}

/** The resource whose objects the feed delivers. */
export interface DocumentSource {
  readonly cluster: string;
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
}

/** Characters of one value, of all labels, and of the body of one document. */
export const valueLengthMax = 1_024;
export const labelsLengthMax = 4_096;
export const bodyLengthMax = 8_192;
/** Values that are visited in one object, and their depth. */
const visitsMax = 2_000;
const depthMax = 32;
const grantsMax = 1_000;

const appliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
/** Fields whose keys are chosen by users. */
const userMaps = new Set(['data', 'annotations', 'matchLabels', 'nodeSelector', 'labels']);
const binaryFields = new Set(['binaryData', 'caBundle']);

/** Returns the document of an object as the API returns it. Bounded in time: it visits a limited number of values. */
export function documentOf(source: DocumentSource, object: JsonObject): Document {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const lines = new Lines(bodyLengthMax);
  const annotations = isObject(metadata['annotations']) ? metadata['annotations'] : {};
  for (const key in annotations) {
    if (key !== appliedAnnotation) lines.add(`${key} ${textOf(annotations[key])}`);
  }
  const isSecret = source.kind === 'Secret';
  addFields(lines, object, isSecret);
  const grants = grantsOf(source, object);
  return {
    cluster: source.cluster,
    group: source.group,
    resource: source.resource,
    namespace: textOf(metadata['namespace']),
    name: textOf(metadata['name']),
    apiVersion: textOf(object['apiVersion']),
    kind: source.kind,
    uid: textOf(metadata['uid']),
    resourceVersion: textOf(metadata['resourceVersion']),
    labels: labelsOf(metadata),
    body: lines.text,
    ...(grants ? { grants } : {}),
  };
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value.slice(0, valueLengthMax)
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : '';

function labelsOf(metadata: JsonObject): string {
  const lines = new Lines(labelsLengthMax);
  const labels = isObject(metadata['labels']) ? metadata['labels'] : {};
  for (const key in labels) lines.add(`${key}=${textOf(labels[key])}`);
  return lines.text;
}

/** Lines of text with a limit of their total length: a line that does not fit is left out. */
class Lines {
  readonly #lengthMax: number;
  readonly #lines: string[] = [];
  #length = 0;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  add(line: string): void {
    if (line === '' || this.#length + line.length >= this.#lengthMax) return;
    this.#length += line.length + 1;
    this.#lines.push(line.replace(/[\r\n\0]+/g, ' '));
  }

  get text(): string {
    return this.#lines.join('\n');
  }
}

interface Visit {
  readonly value: unknown;
  readonly depth: number;
  /** Key of the value if it is worth a search. */
  readonly key: string;
  readonly isUserMap: boolean;
}

/** Visits spec before status, so that the limit cuts off what changes often. */
function addFields(lines: Lines, object: JsonObject, isSecret: boolean): void {
  const { apiVersion: _a, kind: _k, metadata: _m, status, ...fields } = object;
  if (isSecret) {
    lines.add(textOf(fields['type']));
    return;
  }
  const visits: Visit[] = [];
  const push = (value: unknown, depth: number, key = '', isUserMap = false): void =>
    void visits.push({ value, depth, key, isUserMap });
  if (status !== undefined) push(status, 1);
  push(fields, 0);
  for (let count = 0; count < visitsMax && visits.length > 0; count++) {
    const { value, depth, key, isUserMap } = visits.pop()!;
    if (Array.isArray(value)) {
      if (depth < depthMax) for (const item of value.slice(0, visitsMax).toReversed()) push(item, depth + 1);
    } else if (isObject(value)) {
      if (depth < depthMax) pushFields(value, depth, isUserMap, push);
    } else {
      const text = textOf(value);
      lines.add(key === '' ? text : `${key} ${text}`);
    }
  }
}

function pushFields(
  value: JsonObject,
  depth: number,
  isUserMap: boolean,
  push: (value: unknown, depth: number, key?: string, isUserMap?: boolean) => void,
): void {
  const keys: string[] = [];
  for (const key in value) if (keys.push(key) >= visitsMax) break;
  for (const key of keys.toReversed()) {
    const isBinary = binaryFields.has(key);
    push(isBinary ? '' : value[key], depth + 1, isUserMap ? key.slice(0, valueLengthMax) : '', userMaps.has(key));
  }
}

const rbacGroup = 'rbac.authorization.k8s.io';

/**
 * Returns the objects that the rules of a role name. The index only uses them to decide which reviews are worth a request: a review of the
 * cluster decides.
 */
function grantsOf({ group, resource }: DocumentSource, object: JsonObject): NameGrant[] | undefined {
  if (group !== rbacGroup || (resource !== 'roles' && resource !== 'clusterroles')) return undefined;
  const grants: NameGrant[] = [];
  for (const rule of Array.isArray(object['rules']) ? object['rules'] : []) {
    if (!isObject(rule)) continue;
    const names = textsOf(rule['resourceNames']);
    for (const name of names) {
      for (const ruleGroup of textsOf(rule['apiGroups'])) {
        for (const ruleResource of textsOf(rule['resources'])) {
          if (grants.length >= grantsMax) return [{ group: '*', resource: '*', name: '*' }];
          grants.push({ group: ruleGroup, resource: ruleResource, name });
        }
      }
    }
  }
  return grants;
}

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
