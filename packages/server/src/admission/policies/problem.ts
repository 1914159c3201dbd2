/** What is wrong with a policy, rather than with the request: the policy's `failurePolicy` decides what follows from it. */

import { CodedError } from '@hangar/core';

export class PolicyProblem extends CodedError<'PolicyProblem'> {
  constructor(message: string, options?: ErrorOptions) {
    super('PolicyProblem', message, options);
  }
}
