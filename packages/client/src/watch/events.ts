/** A watch's answer, which is one JSON document a line, as events. */

import type { Status } from '@hangar/api';
import { ClientError, ReceivedStatusError } from '../errors.ts';
import type { WatchEvent } from '../client.ts';
import type { ApiObject } from '../kind.ts';
import type { HttpAnswer } from '../transport/contract.ts';
import { lines } from './lines.ts';

export async function* watchEvents<T extends ApiObject>(
  open: () => Promise<HttpAnswer>,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const answer = await open();
  for await (const line of lines(answer.stream())) yield eventOf<T>(line);
}

interface Frame {
  readonly type: string;
  readonly object: unknown;
}

function eventOf<T extends ApiObject>(line: string): WatchEvent<T> {
  const { type, object } = parsed(line);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: object as T };
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = (object as ApiObject).metadata;
      return { type, resourceVersion, isInitialEventsEnd: annotations?.['k8s.io/initial-events-end'] === 'true' };
    }
    case 'ERROR':
      throw new ReceivedStatusError(object as Status);
    default:
      throw new ClientError('MalformedAnswer', `a watch event of type ${JSON.stringify(type)}`);
  }
}

function parsed(line: string): Frame {
  try {
    return JSON.parse(line) as Frame;
  } catch (cause) {
    throw new ClientError('MalformedAnswer', `a watch event that is no JSON: ${line.slice(0, 80)}`, { cause });
  }
}
