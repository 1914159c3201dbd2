/**
 * Cursors of searches: the position of the next page, encrypted and authenticated, so that a client cannot learn from it how many objects
 * it may not read, nor change it. A cursor is valid for the same user, query and generation of the index.
 */

import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { StatusError, badRequest } from '@hangar/api';
import type { User } from '@hangar/server/library';
import type { Position } from './index-store/contract.ts';

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;
const cursorLengthMax = 512;

export interface CursorContext {
  readonly key: Buffer;
  /** Generation of the index. */
  readonly generation: string;
  /** Digest of the user, the scope and the query. */
  readonly binding: string;
}

/** Returns the digest to which a cursor is bound. */
export const bindingOf = (user: User, ...parts: readonly unknown[]): string =>
  hash('sha256', JSON.stringify([user.name, user.uid, user.groups, ...parts]), 'base64url');

export function sealCursor({ key, generation, binding }: CursorContext, { tier, id }: Position): string {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(`${generation} ${binding}`));
  // A fixed length: the position is not visible in the length of the cursor.
  const text = JSON.stringify([tier, id]).padEnd(32);
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return `${generation}.${Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')}`;
}

/** Throws 410 if the index was rebuilt since, 400 for any other cursor that was not returned for this search. */
export function openCursor({ key, generation, binding }: CursorContext, cursor: string): Position {
  const [of, sealed] = cursor.length > cursorLengthMax ? [] : cursor.split('.', 2);
  if (of === undefined || sealed === undefined) throw invalid();
  if (of !== generation) {
    throw new StatusError('Expired', 'the index was rebuilt since spec.continue was returned; search again without it');
  }
  try {
    const bytes = Buffer.from(sealed, 'base64url');
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceLength))
      .setAAD(Buffer.from(`${generation} ${binding}`))
      .setAuthTag(bytes.subarray(-tagLength));
    const text = decipher.update(bytes.subarray(nonceLength, -tagLength), undefined, 'utf8') + decipher.final('utf8');
    const [tier, id] = JSON.parse(text) as [number, number];
    return { tier, id };
  } catch {
    throw invalid();
  }
}

const invalid = (): StatusError => badRequest('spec.continue was not returned for this query and user');
