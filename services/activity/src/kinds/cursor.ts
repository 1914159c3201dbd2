/**
 * Cursors of queries. A cursor has the position of the next event and the times that relative times were resolved to. It is signed together
 * with the scope and the query, so that it cannot be used for another scope or with another filter.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EventPosition } from '../storage/contract.ts';

export interface Cursor extends EventPosition {
  readonly startUs: number;
  readonly endUs: number;
}

export interface CursorContext {
  readonly secret: Uint8Array;
  readonly scope: string;
  /** Fields of the query that must stay the same. */
  readonly query: readonly string[];
}

const cursorLengthMax = 512;

export function signedCursor({ startUs, endUs, timeUs, sequence }: Cursor, context: CursorContext): string {
  const payload = Buffer.from(JSON.stringify([startUs, endUs, timeUs, sequence])).toString('base64url');
  return `${payload}.${signature(payload, context).toString('base64url')}`;
}

/** Returns undefined if the cursor was not issued for this query in this scope. */
export function readCursor(text: string, context: CursorContext): Cursor | undefined {
  const [payload = '', given = '', ...rest] = text.length <= cursorLengthMax ? text.split('.') : [];
  const expected = signature(payload, context);
  const sent = Buffer.from(given, 'base64url');
  if (rest.length > 0 || sent.length !== expected.length || !timingSafeEqual(sent, expected)) return undefined;
  const [startUs, endUs, timeUs, sequence] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as number[];
  return { startUs: startUs!, endUs: endUs!, timeUs: timeUs!, sequence: sequence! };
}

const signature = (payload: string, { secret, scope, query }: CursorContext): Buffer =>
  createHmac('sha256', secret)
    .update(JSON.stringify(['audit-log-query', payload, scope, ...query]))
    .digest();
