/**
 * Matches requests against the constraints of a policy or binding. Rules are checked first because they are cheap and most requests fail
 * them; namespace labels, which may have to be read, are checked last.
 */

import { labelSelectorOf } from '@hangar/api';
import type { GroupVersionKind, KubeObject, LabelSelector } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import type { ResourceName } from '../../resources/catalogue.ts';
import { subresourceOf } from '../../resources/resource.ts';
import type { Resource } from '../../resources/resource.ts';
import { equivalentsOf, kindOf } from '../matching/equivalents.ts';
import { namespaceLabels } from '../matching/namespaces.ts';
import { ruleMatches } from '../matching/rules.ts';
import type { Attributes } from './attributes.ts';
import type { MatchResources, MatchRule } from './spec.ts';

/** The resource that matched: the requested one, or the same resource in another group or version. */
export interface Match {
  readonly resource: ResourceName;
  readonly kind: GroupVersionKind;
}

export class MatchCriteria {
  readonly #rules: readonly MatchRule[];
  readonly #excluded: readonly MatchRule[];
  readonly #isExact: boolean;
  readonly #objects: LabelSelector;
  readonly #namespaces: LabelSelector;

  constructor(resources: MatchResources) {
    this.#rules = resources.resourceRules ?? [];
    this.#excluded = resources.excludeResourceRules ?? [];
    this.#isExact = resources.matchPolicy !== 'Equivalent';
    this.#objects = labelSelectorOf(resources.objectSelector ?? {});
    this.#namespaces = labelSelectorOf(resources.namespaceSelector ?? {});
  }

  /** Matches by rules and by the labels of the object. The caller then checks `selectsNamespace`. */
  match(attributes: Attributes): Match | undefined {
    if (this.#excluded.length > 0 && this.#ruleMatch(this.#excluded, attributes)) return undefined;
    const match = this.#rules.length === 0 ? attributes : this.#ruleMatch(this.#rules, attributes);
    return match && this.#selectsObject(attributes) ? match : undefined;
  }

  /** Cluster-scoped objects are never exempted. Rejects with 404 if the namespace does not exist. */
  selectsNamespace({ request }: Attributes, plane: ControlPlane): boolean | Promise<boolean> {
    if (this.#namespaces.isEmpty) return true;
    const labels = namespaceLabels(request, plane);
    if (labels instanceof Promise) return labels.then((found) => this.#namespaces.matches(found));
    return labels === undefined || this.#namespaces.matches(labels);
  }

  #selectsObject({ object, old }: Attributes): boolean {
    if (this.#objects.isEmpty) return true;
    const selects = (one: KubeObject | undefined): boolean => !!one && this.#objects.matches(one.metadata?.labels);
    return selects(object) || selects(old);
  }

  #ruleMatch(rules: readonly MatchRule[], attributes: Attributes): Match | undefined {
    const { request, resource } = attributes;
    if (rules.some((rule) => names(rule, request.name) && ruleMatches(rule, request, request.resource)))
      return attributes;
    if (this.#isExact) return undefined;
    const others = equivalentsOf(request.plane, request.resource).filter((other) => offers(other, request.subresource));
    for (const rule of rules) {
      const found = others.find((other) => names(rule, request.name) && ruleMatches(rule, request, other));
      if (!found) continue;
      const { group, version } = found;
      return { resource: { ...resource, group, version }, kind: kindOf(found, request.subresource) };
    }
    return undefined;
  }
}

const names = ({ resourceNames = [] }: MatchRule, name: string): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name);

const offers = (resource: Resource, subresource: string): boolean =>
  subresource === '' || subresourceOf(resource, subresource) !== undefined;
