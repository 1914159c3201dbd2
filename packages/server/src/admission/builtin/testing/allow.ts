/** Authorizer for admission tests that do not test authorization. */

import type { Authorizer } from '../../../auth/authorize.ts';

export const alwaysAllow: Authorizer = { authorize: () => 'allow' };
