/** Status errors: a separate entry point, for clients that do not need the table of kinds. */

export * from './field-error.ts';
export * from './status.ts';
