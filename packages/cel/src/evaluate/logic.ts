/**
 * `&&`, `||`, `?:` and the condition of loops. An error on one side of `&&` and `||` is ignored if the other side decides: both orders give
 * the same result, as the specification requires.
 */

import { Fault, noSuchOverload } from '../errors.ts';
import type { Code, Frame } from './frame.ts';

/** `&&` if `decisive` is false, `||` if it is true. */
export function logical(decisive: boolean, left: Code, right: Code): Code {
  return (frame) => {
    let first: unknown;
    let fault: Fault | undefined;
    try {
      first = left(frame);
    } catch (thrown) {
      fault = swallow(thrown);
    }
    if (first === decisive) return decisive;
    const second = evaluateRight(frame, right, fault);
    if (second === decisive) return decisive;
    if (fault !== undefined) throw fault;
    return typeof first === 'boolean' && typeof second === 'boolean' ? second : noSuchOverload();
  };
}

/** If both sides fail, the result is the error of the left side. */
function evaluateRight(frame: Frame, right: Code, fault: Fault | undefined): unknown {
  if (fault === undefined) return right(frame);
  try {
    return right(frame);
  } catch (thrown) {
    swallow(thrown);
    throw fault;
  }
}

/** Returns the thrown fault if it may be swallowed; budget and interrupt may not. */
export function swallow(thrown: unknown): Fault {
  if (thrown instanceof Fault && !thrown.final) return thrown;
  throw thrown;
}

export function conditional(condition: Code, whenTrue: Code, whenFalse: Code): Code {
  return (frame) => {
    const test = condition(frame);
    if (test === true) return whenTrue(frame);
    return test === false ? whenFalse(frame) : noSuchOverload();
  };
}

/** True unless the argument is exactly false: an error continues the loop. */
export function notStrictlyFalse(argument: Code): Code {
  return (frame) => {
    let value: unknown = true;
    try {
      value = argument(frame);
    } catch (thrown) {
      swallow(thrown);
    }
    frame.charge(1);
    return value !== false;
  };
}
