/** Location of the kubeconfig of a control plane, by its name. */

import { createHash } from 'node:crypto';
import type { ObjectKey } from '@hangar/client';
import { RuntimeError } from '../../errors.ts';

const namespaceLengthMax = 63;

/** Returns the namespace of the objects of a control plane in the management cluster. Namespaces have no dots, control planes may. */
export function managementNamespace(controlPlane: string): string {
  const whole = `kplane-cp-${controlPlane}`;
  if (whole.length <= namespaceLengthMax && !whole.includes('.')) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `${whole.slice(0, 40)}-${hash}`.replaceAll('.', '-');
}

/**
 * Returns a function from the name of a control plane to the key of its Secret. `template` is `namespace/name` or a name, with `{name}`
 * (the control plane) and `{namespace}` (`scope`, or the namespace of the control plane). Throws `InvalidOptions` if all control planes
 * would have the same Secret.
 */
export function secretTemplate(
  template = '{namespace}/controlplane-{name}-kubeconfig',
  scope?: string,
): (controlPlane: string) => ObjectKey {
  const parts = template.split('/');
  const [namespace, name] = parts.length === 1 ? ['{namespace}', template] : (parts as [string, string]);
  if (parts.length > 2 || namespace === '' || !name) throw invalid(template, 'must be NAME or NAMESPACE/NAME');
  const isOwn =
    name.includes('{name}') || namespace.includes('{name}') || (!scope && namespace.includes('{namespace}'));
  if (!isOwn) throw invalid(template, 'must contain {name}: it names the same Secret for all clusters');
  if (/\{(?!(name|namespace)\})/.test(template))
    throw invalid(template, 'contains an unknown variable; use {namespace} or {name}');
  return (controlPlane) => {
    const own = scope ?? managementNamespace(controlPlane);
    const fill = (text: string): string => text.replaceAll('{namespace}', own).replaceAll('{name}', controlPlane);
    return { namespace: fill(namespace), name: fill(name) };
  };
}

const invalid = (template: string, what: string): RuntimeError =>
  new RuntimeError('InvalidOptions', `the secret template "${template}" ${what}`);
