/** Options of `pods/log`: parsed from the query, validated as in kube-apiserver, and written for the kubelet. */

import { badRequest, forbidden, formatTime, invalid, invalidObject, parseTime, quote } from '@hangar/api';
import type { FieldError, Instant } from '@hangar/api';
import type { Query } from '../request/query.ts';

export interface LogOptions {
  readonly follow: boolean;
  readonly insecureSkipTlsVerifyBackend: boolean;
  /** Query of the request to the kubelet, without the question mark. */
  readonly query: string;
}

/** Throws 400 for values that cannot be parsed, 422 for others. */
export function logOptions(query: Query, podName: string): LogOptions {
  const flag = (name: string): boolean => query.flag(name) ?? false;
  const sinceSeconds = integer(query, 'sinceSeconds');
  const sinceTime = timeIn(query, 'sinceTime');
  const tailLines = integer(query, 'tailLines');
  const limitBytes = integer(query, 'limitBytes');
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0n) {
    errors.push(invalid('tailLines', Number(tailLines), 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1n) {
    errors.push(invalid('limitBytes', Number(limitBytes), 'must be greater than 0'));
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1n) {
    errors.push(invalid('sinceSeconds', Number(sinceSeconds), 'must be greater than 0'));
  }
  // The feature PodLogsQuerySplitStreams is off by default.
  if (query.has('stream')) errors.push(forbidden('stream', 'may not be specified'));
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, podName, errors);
  const follow = flag('follow');
  const parameters = new URLSearchParams();
  if (follow) parameters.set('follow', 'true');
  if (limitBytes !== undefined) parameters.set('limitBytes', String(limitBytes));
  if (flag('previous')) parameters.set('previous', 'true');
  if (sinceSeconds !== undefined) parameters.set('sinceSeconds', String(sinceSeconds));
  if (sinceTime !== undefined) parameters.set('sinceTime', formatTime(sinceTime.seconds, 'second')!);
  if (tailLines !== undefined) parameters.set('tailLines', String(tailLines));
  if (flag('timestamps')) parameters.set('timestamps', 'true');
  return {
    follow,
    insecureSkipTlsVerifyBackend: flag('insecureSkipTLSVerifyBackend'),
    query: parameters.toString(),
  };
}

const [int64Min, int64Max] = [-(2n ** 63n), 2n ** 63n - 1n];

function integer(query: Query, name: string): bigint | undefined {
  if (!query.has(name)) return undefined;
  const text = query.text(name);
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ''));
  if (value < int64Min || value > int64Max) {
    throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: value out of range`);
  }
  return value;
}

const zeroTime = '0001-01-01T00:00:00Z';

function timeIn(query: Query, name: string): Instant | undefined {
  if (!query.has(name)) return undefined;
  const text = query.text(name);
  try {
    return parseTime(text === '' || text === 'null' ? zeroTime : text, 'second');
  } catch (error) {
    throw badRequest((error as Error).message, error);
  }
}
