/**
 * Every write of the reconciler has a name, and a failpoint on either side: `hosted.<name>.before` and `.after`. A test ends the operator
 * at each of them in turn.
 */

import type { Failpoints } from '@hangar/core';

export class Writes {
  readonly #failpoints: Pick<Failpoints, 'hit'> | undefined;

  constructor(failpoints?: Pick<Failpoints, 'hit'>) {
    this.#failpoints = failpoints;
  }

  async make<T>(name: string, write: () => Promise<T>): Promise<T> {
    this.#failpoints?.hit(`hosted.${name}.before`);
    const written = await write();
    this.#failpoints?.hit(`hosted.${name}.after`);
    return written;
  }
}
