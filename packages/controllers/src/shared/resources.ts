/** The resource of a change. */

import type { ResourceId } from '../contract.ts';

export const isCore = (id: ResourceId, resource: string): boolean => id.resource === resource && id.group === '';

/** Reports whether the stored JSON contains this text. Called before parsing: most objects do not match. */
export const hasText = (bytes: Uint8Array, text: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(text);
