/** Refusals alone: an entry of its own, for clients that need nothing of the table of kinds. */

export * from './field-error.ts';
export * from './status.ts';
