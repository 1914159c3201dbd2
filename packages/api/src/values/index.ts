/** Quantities, times and durations: a separate entry point, for clients that do not need the table of kinds. */

export { formatDuration, parseDuration } from './duration.ts';
export { canonicalQuantity, compareQuantities, formatQuantity, parseQuantity } from './quantity.ts';
export type { Quantity } from './quantity.ts';
export { formatTime, parseTime } from './time.ts';
export type { Instant } from './time.ts';
