/** Reads Secrets. */

import { createHash } from 'node:crypto';
import type { Secret } from '@hangar/client/kinds/core-v1';

/** The text under a key; '' if there is none. */
export const textIn = (secret: Secret | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** `Secret "team/demo-ca"`. */
export const quoted = ({ metadata }: Pick<Secret, 'metadata'>): string =>
  `Secret ${JSON.stringify(`${metadata.namespace}/${metadata.name}`)}`;

/** A digest of any JSON. The order of fields counts. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
