/** Authorizers by their names in `--authorization-mode`. */

import type { ControlPlane } from '../../control-plane.ts';
import { everything, noRules, privilegedGroup } from '../authorize.ts';
import type { Authorizer } from '../authorize.ts';
import { lazyNodeAuthorizer } from './node/lazy-node-authorizer.ts';
import { RbacAuthorizer } from './rbac/rbac-authorizer.ts';

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC';

/** Runs before all others in every mode. The policy binds its group to all rules, so it lists none. */
export const superusers: Authorizer = { ...privilegedGroup, rulesFor: () => noRules };

const alwaysAllow: Authorizer = { authorize: () => 'allow', rulesFor: () => everything };

const alwaysDeny: Authorizer = {
  authorize: () => ({ decision: 'no opinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => noRules,
};

/** In the given order, which is the order of evaluation. */
export const authorizersOf = (plane: ControlPlane, modes: readonly AuthorizationMode[]): Authorizer[] =>
  modes.map((mode) => authorizerOf(plane, mode));

export function authorizerOf(plane: ControlPlane, mode: AuthorizationMode): Authorizer {
  switch (mode) {
    case 'AlwaysAllow':
      return alwaysAllow;
    case 'AlwaysDeny':
      return alwaysDeny;
    case 'Node':
      return lazyNodeAuthorizer(plane);
    case 'RBAC':
      return new RbacAuthorizer(plane.policy);
  }
}
