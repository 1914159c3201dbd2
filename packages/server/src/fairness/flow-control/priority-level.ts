/** PriorityLevelConfigurations: the share of a level in the seats of its control plane, and its queue limits. */

import type { KubeObject } from '@hangar/api';

export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  /** Never waits behind other levels, and has no limits. */
  readonly isExempt: boolean;
  readonly shares: number;
  /** Fraction of its seats, from 0 to 1, that other levels may use while they are free. */
  readonly lendable: number;
  /** Limit on borrowed seats as a multiple of its own seats; infinite: no limit. */
  readonly borrowable: number;
  /** Undefined: requests without a seat are rejected. */
  readonly queuing: Queuing | undefined;
}

/**
 * In kube-apiserver each flow has a hand of several queues, and a request joins the shortest. Here each flow has one queue, as long as all
 * queues of its hand.
 */
export interface Queuing {
  readonly ofFlowMax: number;
  readonly max: number;
}

interface LevelObject extends KubeObject {
  spec: {
    type: 'Exempt' | 'Limited';
    exempt?: { nominalConcurrencyShares?: number; lendablePercent?: number };
    limited?: {
      nominalConcurrencyShares?: number;
      lendablePercent?: number;
      borrowingLimitPercent?: number;
      limitResponse?: {
        type: 'Queue' | 'Reject';
        queuing?: { queues: number; handSize: number; queueLengthLimit: number };
      };
    };
  };
}

export function readPriorityLevel(object: KubeObject): PriorityLevel {
  const { metadata, spec } = object as LevelObject;
  const isExempt = spec.type === 'Exempt';
  const { nominalConcurrencyShares, lendablePercent } = (isExempt ? spec.exempt : spec.limited) ?? {};
  const borrowing = spec.limited?.borrowingLimitPercent;
  const response = spec.limited?.limitResponse;
  return {
    name: metadata.name!,
    uid: metadata['uid'] as string,
    isExempt,
    shares: nominalConcurrencyShares ?? (isExempt ? 0 : 30),
    lendable: (lendablePercent ?? 0) / 100,
    borrowable: borrowing === undefined ? Infinity : borrowing / 100,
    queuing: response?.type === 'Queue' ? readQueuing(response.queuing) : undefined,
  };
}

function readQueuing({ queues = 64, handSize = 8, queueLengthLimit = 50 } = {} as Partial<QueuingObject>): Queuing {
  return { ofFlowMax: handSize * queueLengthLimit, max: queues * queueLengthLimit };
}

interface QueuingObject {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** Returns the nominal seats of each level: proportional to its shares, rounded up as in kube-apiserver. */
export function nominalSeats(levels: Iterable<PriorityLevel>, seats: number): Map<string, number> {
  const all = [...levels];
  const shares = all.reduce((sum, one) => sum + one.shares, 0);
  return new Map(all.map((one) => [one.name, shares === 0 ? 0 : Math.ceil((seats * one.shares) / shares)]));
}
