/**
 * Decides which host names of a control plane may be routed. Writers of control planes choose names freely, and the Gateway belongs to the
 * platform: where the class has a template for names, they are limited to its domain. Pure.
 *
 *     {name}.planes.example         demo.planes.example  x.y.planes.example   not planes.example, shop.example
 *     {name}-dev.planes.example     the same: the domain begins at the first dot behind the placeholder
 *     api.{name}                    no domain: only the name that the template produces for this control plane
 */

import type { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { hostnameOf } from '../control-plane/hostname.ts';

export interface SortedNames {
  readonly allowed: readonly string[];
  readonly others: readonly string[];
}

/** Without a template all are allowed: then only the listeners of the Gateway limit them. */
export function sortedNames(
  names: readonly string[],
  controlPlane: ControlPlane,
  controlPlaneClass: ControlPlaneClass | undefined,
): SortedNames {
  const template = controlPlaneClass?.spec?.gateway?.hostnameTemplate;
  if (!template) return { allowed: names, others: [] };
  const domain = domainOf(template);
  const { virtual } = controlPlane.spec ?? {};
  const byTemplate = hostnameOf({ ...controlPlane, spec: virtual ? { virtual } : {} }, controlPlaneClass);
  const isAllowed = (name: string): boolean =>
    name === byTemplate || (domain !== undefined && name.endsWith(domain) && name.length > domain.length);
  return { allowed: names.filter(isAllowed), others: names.filter((name) => !isAllowed(name)) };
}

/** Returns the domain with its leading dot. Undefined: the placeholder is at the end, or missing. */
function domainOf(template: string): string | undefined {
  const last = template.lastIndexOf('}');
  const at = last < 0 ? -1 : template.indexOf('.', last);
  return at < 0 ? undefined : template.slice(at);
}
