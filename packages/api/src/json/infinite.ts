/** Numbers beyond all doubles: JavaScript reads them as Infinity, which JSON cannot say; they would be stored as null. */

import { ApiError } from '../errors.ts';

/** Throws MalformedJson. */
export function refuseInfinite(root: unknown): void {
  const waiting = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new ApiError('MalformedJson', 'json: cannot unmarshal number into Go value of type float64');
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const child of Object.values(value)) {
      if (typeof child === 'number' || (typeof child === 'object' && child !== null)) waiting.push(child);
    }
  }
}
