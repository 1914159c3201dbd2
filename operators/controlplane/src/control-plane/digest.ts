/** Short names for what something was made of: equal ones were made of the same. */

import { createHash } from 'node:crypto';

export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
