/**
 * What a command fails with, for the person who typed it. Test the `code`.
 *
 * | code     | meaning                                                             | exit code |
 * |----------|---------------------------------------------------------------------|-----------|
 * | Usage    | the command line says nothing that can be done; nothing was tried   | 2         |
 * | Failed   | it was tried, and did not work                                      | 1         |
 * | Declined | a question was answered with no                                     | 1         |
 */

import { CodedError } from '@hangar/core';

export type CliErrorCode = 'Usage' | 'Failed' | 'Declined';

export interface CliErrorOptions extends ErrorOptions {
  /** What to do now: whole lines, shown below the message. */
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
