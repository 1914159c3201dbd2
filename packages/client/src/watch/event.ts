/** Decodes one event of a watch. */

import type { Status } from '@hangar/api/status';
import type { WatchEvent } from '../client.ts';
import { ClientError, ReceivedStatusError } from '../errors.ts';
import type { ApiObject } from '../kind.ts';

interface Frame {
  readonly type: string;
  readonly object: ApiObject;
}

const initialEventsEnd = 'k8s.io/initial-events-end';

/** Throws the error of an ERROR event, and `MalformedAnswer` for an invalid event. */
export function eventOf<T extends ApiObject>(line: string, restore: (object: T) => T): WatchEvent<T> {
  const { type, object } = parsed(line);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: restore(object as T) };
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations = {} } = object.metadata;
      const { [initialEventsEnd]: end, ...others } = annotations;
      const isInitialEventsEnd = end === 'true';
      const hasOthers = Object.keys(others).length > 0;
      return { type, resourceVersion, isInitialEventsEnd, ...(hasOthers && { annotations: others }) };
    }
    case 'ERROR':
      throw new ReceivedStatusError(object as unknown as Status);
    default:
      throw new ClientError('MalformedAnswer', `unknown type of watch event: ${JSON.stringify(type)}`);
  }
}

function parsed(line: string): Frame {
  let frame: Frame | null;
  try {
    frame = JSON.parse(line) as Frame | null;
  } catch (cause) {
    throw malformed(line, cause);
  }
  const object: unknown = frame?.object;
  if (typeof object !== 'object' || object === null) throw malformed(line);
  if (frame!.type !== 'ERROR' && typeof frame!.object.metadata !== 'object') throw malformed(line);
  return frame!;
}

const malformed = (line: string, cause?: unknown): ClientError =>
  new ClientError('MalformedAnswer', `not a watch event: ${JSON.stringify(line.slice(0, 80))}`, { cause });
