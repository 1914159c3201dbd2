/** Metadata that a write of a subresource must not change. */

import type { KubeObject, ObjectMeta } from '../object.ts';

/** Metadata that newer kinds protect from updates of their status; managedFields belong to the write. */
export const statusMetadata = [
  'deletionTimestamp',
  'generation',
  'selfLink',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
] as const;

export function keepMetadata(object: KubeObject, old: KubeObject, names: readonly string[]): void {
  for (const name of names) restore(object, old, `metadata.${name}`);
}

/** Restores a value from the old object, by the dotted path of structs. */
export function restore(object: KubeObject, old: KubeObject, path: string): void {
  const names = path.split('.');
  const last = names.pop()!;
  let [into, from]: [Record<string, unknown>, Record<string, unknown> | undefined] = [object, old];
  for (const name of names) {
    into = (into[name] ??= {}) as Record<string, unknown>;
    from = from?.[name] as Record<string, unknown> | undefined;
  }
  const value = from?.[last];
  if (value === undefined || value === null) delete into[last];
  else into[last] = value;
}

export function setGeneration(metadata: ObjectMeta, generation: number): void {
  if (generation === 0) delete metadata.generation;
  else metadata.generation = generation;
}
