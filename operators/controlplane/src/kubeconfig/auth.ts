/** The administrator of a control plane, as configured in its class. */

import type { ControlPlaneClass } from '../api/index.ts';

export type AuthModel = 'token' | 'certificate';

export interface Auth {
  readonly model: AuthModel;
  /** The ClusterRole that the administrator has. */
  readonly role: string;
}

/** The user of certificates, the ServiceAccount of tokens, and the binding that grants either of them its role. */
export const adminName = 'controlplane-admin';
export const systemNamespace = 'kplane-system';

/** `v0` and `basic` are names of earlier designs for the same. */
const models: Readonly<Record<string, AuthModel>> = {
  token: 'token',
  v0: 'token',
  basic: 'token',
  certificate: 'certificate',
};

/** Reason for which a class with another model is refused, and every control plane of it. */
export const unsupportedAuthModel = 'UnsupportedAuthModel';

/** Undefined: the class names an unknown model. */
export function authOf(controlPlaneClass: ControlPlaneClass | undefined): Auth | undefined {
  const { model: wanted = 'certificate', defaultRole: role = 'cluster-admin' } = controlPlaneClass?.spec?.auth ?? {};
  const model = Object.hasOwn(models, wanted) ? models[wanted] : undefined;
  return model && { model, role };
}
