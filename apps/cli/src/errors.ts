/**
 * Errors of commands, for the user who typed them. Test the `code`.
 *
 * | code     | meaning                                   | exit code |
 * |----------|-------------------------------------------|-----------|
 * | Usage    | invalid command line; nothing was done    | 2         |
 * | Failed   | the command was executed and failed       | 1         |
 * | Declined | the user answered a question with no      | 1         |
 */

import { CodedError } from '@hangar/core';

export type CliErrorCode = 'Usage' | 'Failed' | 'Declined';

export interface CliErrorOptions extends ErrorOptions {
  /** Suggested action: whole lines, shown below the message. */
  readonly next?: string | undefined;
}

export class CliError extends CodedError<CliErrorCode> {
  readonly next: string | undefined;

  constructor(code: CliErrorCode, message: string, { next, ...options }: CliErrorOptions = {}) {
    super(code, message, options);
    this.next = next;
  }
}

export const usage = (message: string, next?: string): CliError => new CliError('Usage', message, { next });
export const failed = (message: string, options?: CliErrorOptions): CliError =>
  new CliError('Failed', message, options);
