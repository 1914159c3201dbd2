/** Conditions as every kind of this group has them: Kubernetes' own metav1.Condition, with the rules that its servers check. */

export interface Condition {
  /**
   * Type of the condition, such as Ready.
   *
   * @maxLength 316
   * @pattern ^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$
   */
  type: string;
  /** Status of the condition: True, False or Unknown. */
  status: ConditionStatus;
  /**
   * The metadata.generation that the condition was computed from.
   *
   * @format int64
   * @minimum 0
   */
  observedGeneration?: number;
  /**
   * Last time that the status of the condition changed.
   *
   * @format date-time
   */
  lastTransitionTime: string;
  /**
   * Reason of the last transition, as one CamelCase word.
   *
   * @minLength 1
   * @maxLength 1024
   * @pattern ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$
   */
  reason: string;
  /**
   * Human-readable details of the last transition. May be empty.
   *
   * @maxLength 32768
   */
  message: string;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';
