/** Authorizers by the names that `--authorization-mode` has for them. */

import type { ControlPlane } from '../../control-plane.ts';
import { everything, noRules, privilegedGroup } from '../authorize.ts';
import type { Authorizer } from '../authorize.ts';
import { lazyNodeAuthorizer } from './node/lazy-node-authorizer.ts';
import { RbacAuthorizer } from './rbac/rbac-authorizer.ts';

export type AuthorizationMode = 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC';

/** Before all others, whatever the mode. Its rules are those of the policy, which binds the group to all of them. */
export const superusers: Authorizer = { ...privilegedGroup, rulesFor: () => noRules };

const alwaysAllow: Authorizer = { authorize: () => 'allow', rulesFor: () => everything };

const alwaysDeny: Authorizer = {
  authorize: () => ({ decision: 'no opinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => noRules,
};

/** In the order given, which is that in which they are asked. */
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
