/** Settings and status of the autoscaler of API servers. */

import type { Quantity } from './containers.ts';

/**
 * @rule "!has(self.minReplicas) || self.minReplicas <= self.maxReplicas" message "minReplicas must not be greater than maxReplicas"
 */
export interface AutoscalingSpec {
  /**
   * Smallest number of API servers. Defaults to 2, or to 1 if maxReplicas is 1.
   *
   * @format int32
   * @minimum 1
   * @maximum 32
   */
  minReplicas?: number;
  /**
   * Largest number of API servers.
   *
   * @format int32
   * @minimum 1
   * @maximum 32
   */
  maxReplicas: number;
  /**
   * Requests that an API server processes at the same time, without watches, on average over all API servers. Defaults to 100 if no target
   * is set.
   *
   * @format int32
   * @minimum 1
   * @maximum 10000
   */
  targetInFlightRequests?: number;
  /** CPU that an API server uses, such as 500m, on average over all API servers. */
  targetCPU?: CPUTarget;
  /**
   * 99th percentile of the duration of requests, such as 500ms, without lists, watches and connections to nodes. It is a reason to add API
   * servers; they are removed while the duration is below half of it.
   */
  targetLatency?: LatencyTarget;
  /** Time after a change of the number of API servers in which none is added. Defaults to 30s. */
  scaleUpDelay?: ScaleDelay;
  /**
   * An API server is removed if this number of API servers was sufficient all the time for this long. Defaults to 5m.
   */
  scaleDownDelay?: ScaleDelay;
}

/** @rule "quantity(string(self)).isGreaterThan(quantity('0'))" message "must be greater than 0" */
export type CPUTarget = Quantity;

/**
 * @maxLength 32
 * @pattern ^([0-9]{1,7}(m|s|ms))+$
 * @rule "duration(self) >= duration('1ms') && duration(self) <= duration('60s')" message "must be from 1ms to 60s"
 */
export type LatencyTarget = string;

/**
 * @maxLength 32
 * @pattern ^([0-9]{1,7}(h|m|s|ms))+$
 * @rule "duration(self) <= duration('24h')" message "must not be longer than 24h"
 */
export type ScaleDelay = string;

export interface AutoscalingStatus {
  /**
   * Number of API servers that the autoscaler set last.
   *
   * @format int32
   */
  desiredReplicas?: number;
  /**
   * Time at which the autoscaler changed the number of API servers last.
   *
   * @format date-time
   */
  lastScaleTime?: string;
  /** The load that caused the last change. Current measurements are metrics of the operator. */
  lastScaleLoad?: AutoscalingLoad;
}

export interface AutoscalingLoad {
  /** Average number of requests that an API server processed at the same time. */
  inFlightRequests?: Quantity;
  /** Average CPU that an API server used. */
  cpu?: Quantity;
  /**
   * 99th percentile of the duration of requests, such as 120ms. Absent: too few requests.
   *
   * @maxLength 32
   */
  latency?: string;
}
