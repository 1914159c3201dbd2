/** Numbers beyond all doubles: JavaScript reads them as Infinity, which JSON cannot say; they would be stored as null. */

import { ApiError } from '../errors.ts';

const possible = /[eE]\+?\d{3}|\d{309}/;

/** Throws MalformedJson. `text` tells at once that there is none, which is nearly always so. */
export function refuseInfinite(text: string, root: unknown): void {
  if (!possible.test(text)) return;
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
