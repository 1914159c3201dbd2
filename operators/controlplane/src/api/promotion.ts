/** When control planes of a class change between the modes Virtual and Dedicated: in a ControlPlaneClass. */

/**
 * @rule "self.mode != 'Automatic' || has(self.maxDedicated)" message "maxDedicated is required when mode is Automatic"
 * @rule "!has(self.toVirtual) || !has(self.toDedicated.objects) ||
 *     (has(self.toVirtual.objects) && self.toVirtual.objects < self.toDedicated.objects)"
 *   message "toVirtual.objects must be set and lower than toDedicated.objects"
 * @rule "!has(self.toVirtual) || !has(self.toDedicated.storedBytes) || (has(self.toVirtual.storedBytes) &&
 *     quantity(string(self.toVirtual.storedBytes)).isLessThan(quantity(string(self.toDedicated.storedBytes))))"
 *   message "toVirtual.storedBytes must be set and lower than toDedicated.storedBytes"
 * @rule "!has(self.toVirtual) || !has(self.toDedicated.requestsPerSecond) || (has(self.toVirtual.requestsPerSecond) &&
 *     self.toVirtual.requestsPerSecond < self.toDedicated.requestsPerSecond)"
 *   message "toVirtual.requestsPerSecond must be set and lower than toDedicated.requestsPerSecond"
 */
export interface PromotionSpec {
  /**
   * Recommend: the operator only reports a recommendation, in the conditions PromotionRecommended and ReturnRecommended. Automatic: it also
   * changes spec.mode of the control plane, which starts a migration.
   *
   * @default Recommend
   */
  mode?: PromotionMode;
  /** Thresholds of virtual control planes. One that is reached for the stabilization window is sufficient. */
  toDedicated: PromotionThresholds;
  /**
   * Thresholds of dedicated control planes, lower than those of toDedicated. All of them must hold for the stabilization window. Only control
   * planes that became dedicated automatically return automatically, unless neighbourP99 or stallsPerHour was the reason. If unset, control
   * planes do not return.
   */
  toVirtual?: ReturnThresholds;
  /**
   * Maximum number of control planes of the class that are dedicated because of promotion. Required in mode Automatic.
   *
   * @format int32
   * @minimum 0
   * @maximum 10000
   */
  maxDedicated?: number;
  /**
   * Maximum number of control planes of the class that migrate at the same time. Automatic changes wait for other migrations.
   *
   * @format int32
   * @minimum 1
   * @maximum 100
   * @default 1
   */
  maxConcurrent?: number;
}

export type PromotionMode = 'Recommend' | 'Automatic';

/**
 * @rule "has(self.objects) || has(self.storedBytes) || has(self.requestsPerSecond) || has(self.neighbourP99) || has(self.stallsPerHour)"
 *   message "at least one threshold is required"
 */
export interface PromotionThresholds {
  /**
   * Number of objects that the control plane stores, without those that every control plane has.
   *
   * @format int64
   * @minimum 1
   */
  objects?: number;
  /** Size of all stored objects and their names, such as 500Mi. */
  storedBytes?: PromotionBytes;
  /**
   * Requests per second, including watches that start.
   *
   * @format int32
   * @minimum 1
   */
  requestsPerSecond?: number;
  /**
   * 99th percentile of the duration of requests to all other tenants of the server, such as 500ms, without watches. It counts only for the
   * tenant that used the most processing time, and at least a fifth of the processing time of all tenants.
   */
  neighbourP99?: PromotionLatency;
  /**
   * Stalls of the event loop of the server in the last hour that requests of the control plane caused.
   *
   * @format int32
   * @minimum 1
   * @maximum 100
   */
  stallsPerHour?: number;
  /** Time for which a threshold must be reached, and time after a change of the mode without another one. Defaults to 10m. */
  stabilizationWindow?: PromotionWindow;
}

/**
 * @rule "has(self.objects) || has(self.storedBytes) || has(self.requestsPerSecond)" message "at least one threshold is required"
 */
export interface ReturnThresholds {
  /**
   * The control plane has fewer objects, including those that every control plane has.
   *
   * @format int64
   * @minimum 1
   */
  objects?: number;
  /** The database of etcd is smaller, such as 100Mi, including free pages. */
  storedBytes?: PromotionBytes;
  /**
   * The API server gets fewer requests per second, including those of the components of the control plane.
   *
   * @format int32
   * @minimum 1
   */
  requestsPerSecond?: number;
  /** Time for which all thresholds must hold, and time after a change of the mode without another one. Defaults to 1h. */
  stabilizationWindow?: PromotionWindow;
}

/**
 * @pattern ^[1-9][0-9]{0,15}([kMGTP]|[KMGTP]i)?$
 */
export type PromotionBytes = string | number;

/**
 * @maxLength 32
 * @pattern ^([0-9]{1,7}(m|s|ms))+$
 * @rule "duration(self) >= duration('1ms') && duration(self) <= duration('30s')" message "must be from 1ms to 30s"
 */
export type PromotionLatency = string;

/**
 * @maxLength 32
 * @pattern ^([0-9]{1,7}(h|m|s|ms))+$
 * @rule "duration(self) >= duration('1m') && duration(self) <= duration('168h')" message "must be from 1m to 168h"
 */
export type PromotionWindow = string;
