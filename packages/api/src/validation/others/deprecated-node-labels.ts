/** Labels of nodes that have a better name by now, and the selectors that still use them. */

import type { JsonObject } from '../../object.ts';
import { child, index } from '../../status/field-error.ts';
import { mapOf, structsOf, textOf } from '../shared/read.ts';

const advice: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

export const deprecatedNodeLabel = (name: string): string | undefined =>
  Object.hasOwn(advice, name) ? advice[name] : undefined;

/** For `matchExpressions` of a selector or a term. */
export const expressionWarnings = (path: string, selector: JsonObject | undefined): string[] =>
  structsOf(selector, 'matchExpressions').flatMap((expression, at) => {
    const name = textOf(expression, 'key');
    const text = deprecatedNodeLabel(name);
    return text === undefined
      ? []
      : [`${child(index(child(path, 'matchExpressions'), at), 'key')}: ${name} is ${text}`];
  });

export const selectorWarnings = (path: string, selector: JsonObject | undefined): string[] => [
  ...expressionWarnings(path, selector),
  ...Object.keys(mapOf(selector, 'matchLabels')).flatMap((name) => {
    const text = deprecatedNodeLabel(name);
    return text === undefined ? [] : [`${child(child(path, 'matchLabels'), name)}: ${text}`];
  }),
];
