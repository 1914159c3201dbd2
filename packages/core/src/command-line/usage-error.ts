/** What is wrong with a command line; shown to whoever typed it, without a stack. */
export class UsageError extends Error {}
