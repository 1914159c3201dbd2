/**
 * Which host names of a control plane may be routed. Whoever may write control planes types names as they like, and the Gateway is the
 * platform's: where the class says how names are made, they stay in its domain. Pure.
 *
 *     {name}.planes.example         demo.planes.example  x.y.planes.example   not planes.example, shop.example
 *     {name}-dev.planes.example     the same: the domain begins at the first dot behind what differs
 *     api.{name}                    no domain: what the template makes of this control plane, and nothing else
 */

import type { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { hostnameOf } from '../control-plane/hostname.ts';

export interface SortedNames {
  readonly allowed: readonly string[];
  readonly others: readonly string[];
}

/** Without a template all are allowed: then the listeners of the Gateway are what limits them. */
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

/** With the dot before it. Undefined: what differs is at the end, or nothing does. */
function domainOf(template: string): string | undefined {
  const last = template.lastIndexOf('}');
  const at = last < 0 ? -1 : template.indexOf('.', last);
  return at < 0 ? undefined : template.slice(at);
}
