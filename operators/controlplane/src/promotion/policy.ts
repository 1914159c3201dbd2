/** The promotion settings of a class as numbers. */

import { parseDuration, parseQuantity } from '@hangar/api/values';
import type { PromotionSpec, PromotionThresholds } from '../api/index.ts';

/** Measurements of a control plane, and limits of them. An absent one is unknown, or not limited. */
export interface Measurements {
  readonly objects?: number | undefined;
  readonly storedBytes?: number | undefined;
  readonly requestsPerSecond?: number | undefined;
  /** Set only for the tenant that used the most processing time. */
  readonly neighbourP99Ms?: number | undefined;
  readonly stallsPerHour?: number | undefined;
}

export type Metric = keyof Measurements;
/** In the order in which equal ones are reported. */
export const metrics = ['objects', 'storedBytes', 'requestsPerSecond', 'neighbourP99Ms', 'stallsPerHour'] as const;

export interface Direction {
  readonly limits: Measurements;
  readonly windowMs: number;
}

export interface PromotionPolicy {
  readonly isAutomatic: boolean;
  readonly toDedicated: Direction;
  /** Absent: control planes do not return. */
  readonly toVirtual?: Direction | undefined;
  readonly maxDedicated: number;
  readonly maxConcurrent: number;
}

const toDedicatedWindowMs = 600_000;
const toVirtualWindowMs = 3_600_000;

/** Throws `InvalidValue` if the definition in the management plane does not validate the settings. */
export function policyOf(spec: PromotionSpec): PromotionPolicy {
  const { mode, toDedicated, toVirtual, maxDedicated = 0, maxConcurrent = 1 } = spec;
  return {
    isAutomatic: mode === 'Automatic',
    toDedicated: direction(toDedicated, toDedicatedWindowMs),
    ...(toVirtual ? { toVirtual: direction(toVirtual, toVirtualWindowMs) } : {}),
    maxDedicated,
    maxConcurrent,
  };
}

function direction(thresholds: PromotionThresholds, defaultWindowMs: number): Direction {
  const { objects, storedBytes, requestsPerSecond, neighbourP99, stallsPerHour, stabilizationWindow } = thresholds;
  return {
    limits: {
      objects,
      storedBytes: storedBytes === undefined ? undefined : bytesOf(storedBytes),
      requestsPerSecond,
      neighbourP99Ms: neighbourP99 === undefined ? undefined : msOf(neighbourP99),
      stallsPerHour,
    },
    windowMs: stabilizationWindow === undefined ? defaultWindowMs : msOf(stabilizationWindow),
  };
}

const bytesOf = (quantity: string | number): number => Number(parseQuantity(String(quantity)).nanos / 1_000_000_000n);
const msOf = (duration: string): number => Number(parseDuration(duration) / 1_000_000n);
