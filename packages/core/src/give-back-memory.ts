/**
 * Starting takes memory that serving does not need: sources, half-empty pages of the heap. Nothing gives it back before the
 * heap is under pressure, which an idle server never is; so it is done once, in one short pause after the start.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
