/** For tests of what admission says to those who may do everything. */

import type { Authorizer } from '../../../auth/authorize.ts';

export const alwaysAllow: Authorizer = { authorize: () => 'allow' };
