/** PriorityLevelConfigurations: how much of a control plane's share its flows have together, and how many may wait. */

import type { KubeObject } from '@hangar/api';

export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  /** Never waits behind other levels, and has no bounds of its own. */
  readonly isExempt: boolean;
  readonly shares: number;
  /** Of its seats, from 0 to 1: for others while it does not need them. */
  readonly lendable: number;
  /** How many times its own seats it may borrow; infinite: there is no bound. */
  readonly borrowable: number;
  /** Undefined: who finds no seat is refused. */
  readonly queuing: Queuing | undefined;
}

/**
 * kube-apiserver deals each flow a hand of queues and puts a request into the shortest of them. Here each flow has a queue of
 * its own, as long as all of its hand.
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

/** The seats that are each level's own: all of them, by shares, rounded up as kube-apiserver does. */
export function nominalSeats(levels: Iterable<PriorityLevel>, seats: number): Map<string, number> {
  const all = [...levels];
  const shares = all.reduce((sum, one) => sum + one.shares, 0);
  return new Map(all.map((one) => [one.name, shares === 0 ? 0 : Math.ceil((seats * one.shares) / shares)]));
}
