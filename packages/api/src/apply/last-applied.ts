/**
 * `kubectl apply` without `--server-side` keeps its configuration in an annotation. When the manager `kubectl` applies on the server, it
 * already owns the fields in that annotation, so they do not conflict; and an existing annotation is updated to the applied configuration.
 */

import { isSliceOver } from '@hangar/cel/work';
import type { JsonObject, KubeObject } from '../object.ts';
import { isObject } from '../object.ts';
import { compareObjects } from './compare.ts';
import type { FieldSet } from './field-set.ts';
import { difference, noFields } from './field-set.ts';
import { appliedFields } from './fields-of.ts';
import type { MergeType } from './merge-type.ts';
import { validatePatch } from './validate.ts';
import { goJson } from './values.ts';

export const kubectlManager = 'kubectl';
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const annotationsBytesMax = 256 * 1024;

/** Returns the fields of the annotation that the object still has with the same value. */
export function lastAppliedFields(type: MergeType, live: JsonObject, apiVersion: string): FieldSet {
  const text = lastAppliedText(live);
  if (text === undefined) return noFields;
  try {
    const config = JSON.parse(text) as unknown;
    if (!isObject(config) || config['apiVersion'] !== apiVersion || validatePatch(type, config).length > 0)
      return noFields;
    const { changed, removed } = compareObjects(type, config, live);
    return difference(difference(appliedFields(type, config), changed), removed);
  } catch (error) {
    if (isSliceOver(error)) throw error;
    return noFields;
  }
}

/** Changes the object in place. */
export function updateLastApplied(object: KubeObject, patch: JsonObject): void {
  if (lastAppliedText(object) === undefined) return;
  const annotations: Record<string, string> = { ...object.metadata.annotations, [annotation]: configText(patch) };
  if (bytesOf(annotations) > annotationsBytesMax) delete annotations[annotation];
  object.metadata.annotations = annotations;
}

function lastAppliedText({ metadata }: JsonObject): string | undefined {
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  const text = isObject(annotations) && Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Without the annotation itself; the encoder ends it with a line feed. */
function configText(patch: JsonObject): string {
  const metadata = isObject(patch['metadata']) ? { ...patch['metadata'] } : undefined;
  if (metadata && isObject(metadata['annotations'])) {
    const { [annotation]: _, ...others } = metadata['annotations'];
    metadata['annotations'] = others;
  }
  return `${goJson(metadata ? { ...patch, metadata } : patch)}\n`;
}

const bytesOf = (annotations: Readonly<Record<string, string>>): number =>
  Object.entries(annotations).reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
