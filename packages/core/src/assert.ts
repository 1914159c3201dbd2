/**
 * Assertions for states that cannot happen. They stay on in production: a process that stops is better than one
 * that goes on with a broken invariant. Expected outcomes are typed errors (`errors.ts`), never assertions.
 */

export class AssertionFailed extends Error {
  readonly code = 'AssertionFailed';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(`impossible state: ${message}`);
}

/** The end of an exhaustive switch: the compiler proves it, production still checks it. */
export function unreachable(value: never, message = 'unexpected value'): never {
  throw new AssertionFailed(`impossible state: ${message}: ${String(value)}`);
}
