/** Recommendations of the operator to change the mode of control planes, by the path of their tenants. */

import type { Client } from '@hangar/client';
import { hasCode } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { ControlPlane } from '../kinds.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import type { TopRow } from './rows.ts';

export interface Recommendation {
  readonly mode: 'Dedicated' | 'Virtual';
  readonly reason: string;
  /** The figures, such as `120,431 objects (threshold: 100,000)`. */
  readonly message: string;
}

/** The operator changes recommendations at most every 30 s. */
const refreshMs = 30_000;

export class Recommendations {
  readonly #client: Client;
  readonly #clock: Clock;
  #known: ReadonlyMap<string, Recommendation> = new Map();
  #readAtMs = -Infinity;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Returns the rows with their recommendations. Reads all control planes, page by page, at most every 30 s. */
  async of(rows: readonly TopRow[], signal: AbortSignal): Promise<TopRow[]> {
    if (this.#clock.monotonicMs() - this.#readAtMs >= refreshMs) {
      this.#known = await readRecommendations(this.#client, signal);
      this.#readAtMs = this.#clock.monotonicMs();
    }
    return rows.map((row) => {
      const recommendation = this.#known.get(row.name);
      return recommendation ? { ...row, recommendation } : row;
    });
  }
}

/** Empty if the server does not serve ControlPlanes, or the user may not list them. */
async function readRecommendations(client: Client, signal: AbortSignal): Promise<Map<string, Recommendation>> {
  const found = new Map<string, Recommendation>();
  try {
    for await (const one of client.listAll(ControlPlane, { signal })) {
      const recommendation = recommendationOf(one);
      if (recommendation) found.set(one.spec?.virtual?.clusterPath ?? one.metadata.name ?? '', recommendation);
    }
  } catch (error) {
    if (!hasCode(error, 'NotFound') && !hasCode(error, 'Forbidden')) throw error;
  }
  return found;
}

const modes = { PromotionRecommended: 'Dedicated', ReturnRecommended: 'Virtual' } as const;

function recommendationOf({ status }: ControlPlaneObject): Recommendation | undefined {
  for (const { type, status: isSo, reason = '', message = '' } of status?.conditions ?? []) {
    if (isSo !== 'True' || !(type === 'PromotionRecommended' || type === 'ReturnRecommended')) continue;
    return { mode: modes[type], reason, message };
  }
  return undefined;
}
