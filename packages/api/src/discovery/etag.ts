/** Entity tags and OpenAPI hashes look as kube-apiserver's do: SHA-512 in upper-case hexadecimal digits. */

import { createHash } from 'node:crypto';

export const hashOf = (content: string | Uint8Array): string =>
  createHash('sha512').update(content).digest('hex').toUpperCase();

/** With its quotes, as in the header. */
export const etagOf = (content: string | Uint8Array): string => `"${hashOf(content)}"`;
