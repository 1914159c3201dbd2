/** Continue tokens of lists, in the format of kube-apiserver, so that tokens survive a change of server. */

import { ApiError, badRequest, isObject, parseJson, quote } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import type { Revision } from '@hangar/store';

export interface Continuation {
  /** First key of the rest, relative to the list's prefix. */
  readonly start: string;
  /** Undefined: the snapshot is gone, continue with the current state. */
  readonly revision: Revision | undefined;
}

const version = 'meta.k8s.io/v1';

export function encodeContinue({ start, revision }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: version, rv: revision ?? -1, start })).toString('base64url');
}

/** Throws 400. */
export function decodeContinue(token: string): Continuation {
  const value = parse(token);
  if (value.v !== version) {
    throw invalidToken(`server does not recognize this encoded version ${JSON.stringify(value.v ?? '')}`);
  }
  if (typeof value.rv !== 'number' || !Number.isSafeInteger(value.rv) || value.rv === 0) {
    throw invalidToken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof value.start !== 'string' || value.start === '') {
    throw invalidToken('encoded start key empty (version meta.k8s.io/v1)');
  }
  // kube-apiserver starts some with a slash.
  const start = value.start.replace(/^\//, '');
  if (start === '' || start.startsWith('/') || start.split('/').some((part) => part === '..' || part === '.')) {
    throw invalidToken(value.start);
  }
  return { start, revision: value.rv < 0 ? undefined : (value.rv as Revision) };
}

function parse(token: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    const bytes = Buffer.from(token, 'base64url');
    const first = bytes[0] ?? 0x7b;
    // Non-text bytes are reported as Go does.
    if (first >= 0x80) throw invalidToken(`invalid character '${goCharacter(first)}' looking for beginning of value`);
    const { value } = parseJson(bytes);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw invalidToken(error.message, error);
  }
  throw invalidToken('it is not the token of a list');
}

const goCharacter = (byte: number): string => quote(String.fromCharCode(byte)).slice(1, -1);

const invalidToken = (why: string, cause?: unknown): StatusError =>
  badRequest(`invalid continue token: continue key is not valid: ${why}`, cause);
