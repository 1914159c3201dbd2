/** External users of a control plane: its issuers, else those of its class. The result is the same for both modes. Pure. */

import type { AuthenticationSpec, UserValidationRule } from '@hangar/client/authentication-configuration';
import type { Pass } from './world.ts';

/** Names that start with `system:` belong to Kubernetes: an issuer could otherwise make its users administrators or nodes. */
const reservedNames: readonly UserValidationRule[] = [
  { expression: "!user.username.startsWith('system:')", message: 'user names that start with system: are reserved' },
  {
    expression: "user.groups.all(group, !group.startsWith('system:'))",
    message: 'groups that start with system: are reserved',
  },
];

/** Returns the issuers with the rules for reserved names. Undefined: there are no external users. */
export function authenticationOf({
  controlPlane,
  class: ofClass,
}: Pick<Pass, 'controlPlane' | 'class'>): AuthenticationSpec | undefined {
  const { jwt = [] } = { ...ofClass?.spec?.authentication, ...controlPlane.spec?.authentication };
  if (jwt.length === 0) return undefined;
  return {
    jwt: jwt.map((one) => ({ ...one, userValidationRules: [...(one.userValidationRules ?? []), ...reservedNames] })),
  };
}
