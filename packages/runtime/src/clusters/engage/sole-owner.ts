/** The coordinator of a single process: it owns every cluster from its discovery until it is lost. */

import { aborted } from '@hangar/core';
import { RuntimeError } from '../../errors.ts';
import type { Coordinator } from '../contract.ts';

/** A coordinator that assigns all clusters to this process. */
export const soleOwner: Coordinator = {
  follow({ name }, claim) {
    const ended = new AbortController();
    const { signal } = ended;
    claim.acquired({
      token: 1,
      signal,
      check() {
        if (signal.aborted) throw new RuntimeError('Fenced', `cluster "${name}" is no longer discovered`);
      },
      remainingMs: () => (signal.aborted ? 0 : Infinity),
    });
    return () => ended.abort();
  },
  changed() {},
  run: (signal) => aborted(signal),
};
