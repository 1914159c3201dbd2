/** Turns a thrown value into a message for the user and a suggested action. */

import { asError, hasCode } from '@hangar/core';
import { CliError } from './errors.ts';
import { plain } from './terminal/plain-text.ts';
import { hangar } from './hints.ts';

export interface Explanation {
  readonly exitCode: number;
  /** Absent: nothing is printed. */
  readonly message?: string;
  readonly next?: string;
}

/** Exit code of shells for a program that Ctrl-C interrupted. */
export const interruptedCode = 130;

const failures: Readonly<Record<string, { readonly what: string; readonly next?: string }>> = {
  ConnectionFailed: {
    what: 'the server cannot be reached',
    next: `check that it is running; start it with: ${hangar('up')}`,
  },
  ConnectionLost: {
    what: 'the connection to the server broke',
    next: 'the request may have been executed: check before you retry',
  },
  TimedOut: { what: 'the server did not answer in time', next: `to find the problem: ${hangar('doctor')}` },
  MalformedAnswer: { what: 'the response is not from a Kubernetes API', next: 'check the server in the kubeconfig' },
  CredentialsFailed: { what: 'the credentials cannot be read' },
  InvalidKubeconfig: { what: 'the kubeconfig cannot be used' },
  Unauthorized: {
    what: 'the server rejected the credentials',
    next: 'the credentials belong to another server, or have expired: use the kubeconfig of the running server',
  },
  Forbidden: { what: 'the server denied the request' },
  ServiceUnavailable: { what: 'the server is not ready', next: `try again in a moment, or see: ${hangar('doctor')}` },
  TooManyRequests: { what: 'the server is overloaded', next: 'try again in a moment' },
};

export function explain(thrown: unknown): Explanation {
  const error = asError(thrown);
  if (hasCode(error, 'Aborted')) return { exitCode: interruptedCode };
  if (error instanceof CliError) {
    const { code, message, next } = error;
    return { exitCode: code === 'Usage' ? 2 : 1, message, ...(next === undefined ? {} : { next }) };
  }
  const code = (error as { code?: unknown }).code;
  const known = typeof code === 'string' ? failures[code] : undefined;
  const said = plain(error.message).slice(0, saidMax);
  if (!known) return { exitCode: 1, message: said === '' ? 'unknown error' : said };
  return { exitCode: 1, message: `${known.what}: ${said}`, ...(known.next === undefined ? {} : { next: known.next }) };
}

const saidMax = 2_000;
