/**
 * Assertions for impossible states. They stay on in production: a stopped process is better than one that continues with a broken
 * invariant. Expected outcomes are typed errors (`errors.ts`), never assertions.
 */

export class AssertionFailed extends Error {
  readonly code = 'AssertionFailed';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(`impossible state: ${message}`);
}

/** The end of an exhaustive switch: proven by the compiler, and still checked in production. */
export function unreachable(value: never, message = 'unexpected value'): never {
  throw new AssertionFailed(`impossible state: ${message}: ${String(value)}`);
}
