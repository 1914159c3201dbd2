/** An error in a command line; shown to the user without a stack. */
export class UsageError extends Error {}
