/** Dependencies that all informers of a cache share. */

import type { ApiObject, Kind } from '@hangar/client';
import { asError, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Transform } from './transforms.ts';
import type { CacheOptions } from './cache-options.ts';
import { SharedStrings } from './strings.ts';
import { Turns } from './turns.ts';

export interface CacheWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger | undefined;
  readonly turns: Turns;
  readonly strings: SharedStrings;
  readonly watchList: boolean;
}

export interface Injected {
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log?: Logger | undefined;
}

export const newWorld = (
  { clock = systemClock, random = systemRandom, log }: Injected,
  { watchList = true }: CacheOptions,
): CacheWorld => ({ clock, random, log, turns: new Turns(clock), strings: new SharedStrings(), watchList });

/** Returns a function that returns the object to store, according to the informer options. Never throws. */
export function keeper<T extends ApiObject>(
  { log, strings }: Pick<CacheWorld, 'log' | 'strings'>,
  kind: Kind<T>,
  transform: Transform<T> | undefined,
): Transform<T> {
  return (object) => {
    let kept: T | undefined = object;
    if (transform) {
      try {
        kept = transform(object);
      } catch (error) {
        const { namespace, name } = object.metadata;
        log?.error('transform failed, caching the original object', { namespace, name, error: asError(error) });
      }
    }
    if (kept !== undefined) strings.share(kind, kept);
    return kept;
  };
}
