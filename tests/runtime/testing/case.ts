/** One behaviour of the runtime, the same on every server. Each has its own namespace. */

import type { Ground } from './ground.ts';

export interface Case {
  /** A sentence. */
  readonly name: string;
  run(ground: Ground): Promise<void>;
}
