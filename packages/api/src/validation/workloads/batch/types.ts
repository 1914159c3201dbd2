/** Jobs and CronJobs, as far as rules look at them. Absent is zero or unset; lists may be null. */

import type { List } from '../base/checks.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import type { PodTemplate } from '../types/pod.ts';

export interface ExitCodesRule {
  readonly containerName?: string;
  readonly operator?: string;
  readonly values?: List<number>;
}

export interface PodFailureRule {
  readonly action?: string;
  readonly onExitCodes?: ExitCodesRule;
  readonly onPodConditions?: List<{ readonly type?: string; readonly status?: string }>;
}

export interface SuccessRule {
  readonly succeededIndexes?: string;
  readonly succeededCount?: number;
}

export interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: number;
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly managedBy?: string;
  readonly completionMode?: string;
  readonly suspend?: boolean;
  readonly podFailurePolicy?: { readonly rules?: List<PodFailureRule> };
  readonly successPolicy?: { readonly rules?: List<SuccessRule> };
  readonly podReplacementPolicy?: string;
  readonly manualSelector?: boolean;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
}

export interface JobStatus {
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly ready?: number;
  readonly terminating?: number;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: { readonly succeeded?: List<string>; readonly failed?: List<string> };
  readonly conditions?: List<{ readonly type?: string; readonly status?: string }>;
}

export interface CronJobSpec {
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: number;
  readonly concurrencyPolicy?: string;
  readonly jobTemplate?: { readonly spec?: JobSpec };
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}
