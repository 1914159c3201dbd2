/** An error in a policy, not in the request: the `failurePolicy` of the policy decides. */

import { CodedError } from '@hangar/core';

export class PolicyProblem extends CodedError<'PolicyProblem'> {
  constructor(message: string, options?: ErrorOptions) {
    super('PolicyProblem', message, options);
  }
}
