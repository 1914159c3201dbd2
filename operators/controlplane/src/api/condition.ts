/** Conditions as every kind of this group has them: Kubernetes' own metav1.Condition, with the rules that its servers check. */

export interface Condition {
  /**
   * What it is about, such as Ready.
   *
   * @maxLength 316
   * @pattern ^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$
   */
  type: string;
  /** Whether it is so. */
  status: ConditionStatus;
  /**
   * The generation of the object that was looked at.
   *
   * @format int64
   * @minimum 0
   */
  observedGeneration?: number;
  /**
   * When the status changed last.
   *
   * @format date-time
   */
  lastTransitionTime: string;
  /**
   * Why, in one word.
   *
   * @minLength 1
   * @maxLength 1024
   * @pattern ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$
   */
  reason: string;
  /**
   * Why, for people. May be empty.
   *
   * @maxLength 32768
   */
  message: string;
}

export type ConditionStatus = 'True' | 'False' | 'Unknown';
