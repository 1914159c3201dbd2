/** How a hook is registered with an API server, beyond what its kind and its handlers say. */

import type { MatchCondition } from '@hangar/client/kinds/admissionregistration-v1';
import type { LabelSelector } from '@hangar/client/kinds/meta-v1';
import type { AdmissionOperation } from './review.ts';

export interface HookOptions {
  /** Absent: by its kind, as controller-runtime has it. */
  readonly path?: string;
  /** Of the webhook in its configuration: a domain of three words or more. Absent: by its kind. */
  readonly name?: string;
  /** Absent: those that there are handlers for; CREATE and UPDATE of those that change objects. */
  readonly operations?: readonly AdmissionOperation[];
  /** `status`, `scale`, `eviction`, …: of the kind's resource, instead of the resource itself. */
  readonly subresource?: string;
  /** Absent: `Fail`, so that nothing gets past a webhook that is away. */
  readonly failurePolicy?: 'Fail' | 'Ignore';
  /** Absent: `Equivalent`. */
  readonly matchPolicy?: 'Exact' | 'Equivalent';
  /** Absent: `None`. */
  readonly sideEffects?: 'None' | 'NoneOnDryRun';
  /** Absent: 10. */
  readonly timeoutSeconds?: number;
  /** Of those that change objects. Absent: `Never`. */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly MatchCondition[];
}
