/** Digests of inputs: equal digests mean equal inputs. */

import { createHash } from 'node:crypto';

export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
