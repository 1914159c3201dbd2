/** Test code that several packages use. */

export * from './cpu-time.ts';
export * from './damage.ts';
export * from './fast-clock.ts';
