/** Registration options of a hook with an API server, in addition to its kind and handlers. */

import type { MatchCondition } from '@hangar/client/kinds/admissionregistration-v1';
import type { LabelSelector } from '@hangar/client/kinds/meta-v1';
import type { AdmissionOperation } from './review.ts';

/** Settings of a hook in its webhook configuration. */
export interface HookOptions {
  /** Absent: derived from the kind as in controller-runtime. */
  readonly path?: string;
  /** Name in the webhook configuration: a domain with at least three segments. Absent: derived from the kind. */
  readonly name?: string;
  /** Absent: the operations with a handler; CREATE and UPDATE for mutating hooks. */
  readonly operations?: readonly AdmissionOperation[];
  /** Subresource of the kind, such as `status`, `scale` or `eviction`, instead of the resource itself. */
  readonly subresource?: string;
  /** Absent: `Fail`, so that requests are rejected while the webhook is unavailable. */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** Absent: `Equivalent`. */
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  /** Absent: `None`. */
  readonly sideEffects?: 'None' | 'NoneOnDryRun';
  /** Absent: 10. */
  readonly timeoutSeconds?: number;
  /** For mutating hooks. Absent: `Never`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
}
