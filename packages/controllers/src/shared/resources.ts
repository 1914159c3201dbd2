/** Which resource a change is of. */

import type { ResourceId } from '../contract.ts';

export const isCore = (id: ResourceId, resource: string): boolean => id.resource === resource && id.group === '';

/** Does the stored JSON have this text anywhere? Before it is parsed: most objects are not the ones that are looked for. */
export const hasText = (bytes: Uint8Array, text: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(text);
