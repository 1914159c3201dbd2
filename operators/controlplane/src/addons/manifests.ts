/** Parses texts to objects. An invalid text is refused as a whole, with the position of the error: half an addon is worse than none. */

import { isObject } from '@hangar/api/json';
import { parseYamlDocuments } from '@hangar/api/yaml';
import type { UnknownObject } from '@hangar/client';
import { asError } from '@hangar/core';
import type { Bundle } from './bundles.ts';
import { AddonError } from './errors.ts';
import { isSegment } from './inventory.ts';

export interface Manifest {
  readonly addon: string;
  readonly object: UnknownObject;
}

/** Per control plane: the objects of a class are created in each of its control planes. */
const objectsMax = 1024;

/** Throws `AddonNotFound`, `InvalidSettings`, `InvalidManifest`. */
export function manifestsOf(bundles: readonly Bundle[]): Manifest[] {
  const all: Manifest[] = [];
  for (const { addon, sources, problem } of bundles) {
    if (problem !== undefined) throw new AddonError('InvalidSettings', problem);
    if (sources.length === 0) {
      throw new AddonError(
        'AddonNotFound',
        `addon "${addon}" not found: no ConfigMap in namespace "kplane-system" has the label controlplane.kplane.dev/addon=${addon}`,
      );
    }
    for (const { name, text } of sources) for (const object of objectsIn(name, text)) all.push({ addon, object });
  }
  if (all.length > objectsMax)
    throw new AddonError('InvalidManifest', `the addons have ${all.length} objects; the maximum is ${objectsMax}`);
  return all;
}

function* objectsIn(source: string, text: string): Iterable<UnknownObject> {
  for (const document of documentsIn(source, text)) {
    if (document === null || document === undefined) continue;
    const items = isObject(document) && document['kind'] === 'List' ? document['items'] : [document];
    for (const item of Array.isArray(items) ? items : [items]) yield validObject(source, item);
  }
}

function documentsIn(source: string, text: string): unknown[] {
  try {
    return parseYamlDocuments(text);
  } catch (error) {
    throw new AddonError('InvalidManifest', `${source}: ${asError(error).message}`, { cause: error });
  }
}

function validObject(source: string, value: unknown): UnknownObject {
  const refuse = (why: string): never => {
    throw new AddonError('InvalidManifest', `${source}: ${why}`);
  };
  if (!isObject(value)) return refuse('a document is not an object');
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') return refuse('an object has no apiVersion');
  if (typeof kind !== 'string' || kind === '') return refuse('an object has no kind');
  const { name, namespace } = isObject(metadata) ? metadata : {};
  if (typeof name !== 'string' || name === '') return refuse(`a ${kind} has no name`);
  if (!isSegment(name)) return refuse(`${kind} ${JSON.stringify(name)}: invalid name`);
  if (namespace !== undefined && !isSegment(namespace))
    return refuse(`${kind} "${name}": invalid namespace ${JSON.stringify(namespace)}`);
  return value as unknown as UnknownObject;
}
