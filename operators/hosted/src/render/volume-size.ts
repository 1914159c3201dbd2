/** Sizes of volumes as quantities and as bytes. */

import { parseQuantity } from '@hangar/api/values';

const nanosPerUnit = 1_000_000_000n;
const gibibyte = 2 ** 30;

/** The quantity must be valid. */
export const bytesIn = (quantity: string): number => Number(parseQuantity(quantity).nanos / nanosPerUnit);

/** In whole gibibytes if possible, or else in bytes. */
export const sizeOf = (bytes: number): string =>
  bytes % gibibyte === 0 ? `${bytes / gibibyte}Gi` : String(Math.ceil(bytes));
