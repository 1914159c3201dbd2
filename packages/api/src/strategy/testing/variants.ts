/** Objects like those of the corpus, with fields left out, emptied or nulled: most are still valid. */

import { isObject } from '../../object.ts';
import type { KubeObject } from '../../object.ts';
import type { Random } from '../../testing/random-object.ts';

/** Type and metadata stay. `share` is how many of the fields change. */
export function variantOf(object: KubeObject, share: number, random: Random): KubeObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  return { apiVersion, kind, metadata, ...(vary(rest, share, random) as object) };
}

function vary(value: unknown, share: number, random: Random): unknown {
  if (Array.isArray(value)) return value.filter(() => random() > share).map((one) => vary(one, share, random));
  if (!isObject(value)) return random() < share / 2 ? emptied(value) : value;
  const kept = Object.entries(value).filter(() => random() > share);
  return Object.fromEntries(kept.map(([name, inner]) => [name, varyField(inner, share, random)]));
}

/** Texts are not nulled: bytes are texts, and null bytes do not survive the server's storage. */
const varyField = (value: unknown, share: number, random: Random): unknown =>
  typeof value !== 'string' && random() < share / 3 ? null : vary(value, share, random);

function emptied(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (typeof value === 'number') return 0;
  return typeof value === 'boolean' ? !value : value;
}
