/** A short hash of a resource's storage version: clients compare it to see whether objects need to be written again. */

import { createHash } from 'node:crypto';
import type { GroupVersionKind } from '../builtin/schemas.ts';

export function storageVersionHash({ group, version, kind }: GroupVersionKind): string {
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, 8).toString('base64');
}
