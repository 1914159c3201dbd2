/** Validates a class. Pure. */

import type { NewCondition } from '@hangar/runtime';
import type { ControlPlaneClass } from '../api/index.ts';
import { authOf, unsupportedAuthModel } from '../kubeconfig/auth.ts';

/** `addons`: the names of all existing addons. Returns the first problem. */
export function accepted(given: ControlPlaneClass, addons: ReadonlySet<string>): NewCondition {
  const { spec } = given;
  if (!authOf(given)) {
    return refused(unsupportedAuthModel, `spec.auth.model is "${spec.auth?.model}": it must be certificate or token`);
  }
  const unknown = (spec.addons ?? []).filter((name) => !addons.has(name));
  if (unknown.length > 0) {
    const where = 'an addon is a ConfigMap in namespace "kplane-system" with the label controlplane.kplane.dev/addon';
    return refused('AddonNotFound', `addons not found: ${unknown.join(', ')}: ${where}`);
  }
  const template = spec.gateway?.hostnameTemplate;
  if (template !== undefined && !/\{(name|path)\}/.test(template)) {
    const why = 'all control planes would have the same host name';
    return refused('InvalidHostnameTemplate', `spec.gateway.hostnameTemplate has neither {name} nor {path}: ${why}`);
  }
  return { type: 'Accepted', status: true, reason: 'Accepted' };
}

const refused = (reason: string, message: string): NewCondition => ({
  type: 'Accepted',
  status: false,
  reason,
  message,
});
