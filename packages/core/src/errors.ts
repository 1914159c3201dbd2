/**
 * The base of every expected error: a stable `code` that callers test, a message for people, a `cause` for the log. Each package declares
 * its own codes in its `errors.ts`; callers do not test classes or messages.
 */

export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = code;
    this.code = code;
  }
}

/** Reports whether `error` has exactly this code, from any package, realm or thread. */
export function hasCode<Code extends string>(error: unknown, code: Code): error is Error & { code: Code } {
  return error instanceof Error && (error as { code?: unknown }).code === code;
}

/** Returns the thrown value as an Error: `throw 'text'` in foreign code must not lose its text. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns the abort reason of a signal, as an Error with code `Aborted`. */
export function abortError(signal: AbortSignal): CodedError<'Aborted'> {
  return new CodedError('Aborted', 'the operation was aborted', { cause: signal.reason });
}
