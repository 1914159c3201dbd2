/**
 * Runs the parts, and stops them in order. The order is the same for the failure of any part and for the signal: first all clusters are
 * released to other replicas, then their dependencies stop.
 */

import { asError } from '@hangar/core';

interface Part {
  run(signal: AbortSignal): Promise<void>;
}

export interface LivingParts {
  /** Resolves or rejects when no cluster is served any longer. */
  readonly registry: Part;
  /** Never rejects. */
  readonly conditions: Part;
  readonly engines: Part;
  readonly served: { close(): Promise<void> };
  readonly management: { close(): Promise<void> };
}

/** Resolves after the signal, when everything has stopped. Rejects with the failure of a part, after the same. */
export async function lifetime(parts: LivingParts, signal: AbortSignal): Promise<void> {
  const { registry, conditions, engines, served, management } = parts;
  const ending = new AbortController();
  const failing = new AbortController();
  const writing = conditions.run(ending.signal);
  const engaged = engines.run(ending.signal);
  engaged.catch((error: unknown) => failing.abort(asError(error)));
  try {
    await registry.run(AbortSignal.any([signal, failing.signal]));
    failing.signal.throwIfAborted();
  } finally {
    ending.abort();
    await Promise.allSettled([writing, engaged]);
    await served.close();
    await management.close();
  }
}
