/** The scale subresource of the built-in workloads: `autoscaling/v1` Scale, made from the object and applied to it. */

import { numberAt, objectAt, objectsAt, stringsAt, structAt } from '../defaults/access.ts';
import type { JsonObject, KubeObject, ObjectMeta } from '../object.ts';

/** Returns the scale of a deployment, replica set, stateful set or replication controller. Shares nothing with it. */
export function scaleOf(object: KubeObject): KubeObject {
  const spec = objectAt(object, 'spec');
  const selector = objectAt(spec, 'selector');
  const text = object.kind === 'ReplicationController' ? equalities(selector ?? {}) : selectorText(selector);
  const replicas = numberAt(spec, 'replicas');
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: scaleMetadata(object.metadata),
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberAt(objectAt(object, 'status'), 'replicas'),
      ...(text === '' ? {} : { selector: text }),
    },
  };
}

function scaleMetadata({ name, namespace, uid, resourceVersion, creationTimestamp }: ObjectMeta): ObjectMeta {
  const metadata: JsonObject = { name, namespace, uid, resourceVersion, creationTimestamp };
  for (const key of Object.keys(metadata)) if (metadata[key] === undefined) delete metadata[key];
  return metadata;
}

/** Takes the number of replicas, and the version that the client saw, over to the object, in place. */
export function applyScale(object: KubeObject, scale: KubeObject): void {
  structAt(object, 'spec')['replicas'] = numberAt(objectAt(scale, 'spec'), 'replicas');
  const { resourceVersion } = scale.metadata;
  if (resourceVersion === undefined) delete object.metadata.resourceVersion;
  else object.metadata.resourceVersion = resourceVersion;
}

const equalities = (labels: JsonObject): string =>
  Object.keys(labels)
    .sort()
    .map((key) => `${key}=${String(labels[key])}`)
    .join(',');

const operators: Readonly<Record<string, string>> = { In: 'in', NotIn: 'notin' };

/** As label selectors are written in queries; requirements by key, those of one key as given. */
function selectorText(selector: JsonObject | undefined): string {
  if (selector === undefined) return '<nothing>';
  const labels = objectAt(selector, 'matchLabels') ?? {};
  const requirements = [
    ...Object.keys(labels).map((key) => ({ key, text: `${key}=${String(labels[key])}` })),
    ...objectsAt(selector, 'matchExpressions').map((one) => ({ key: String(one['key']), text: expressionText(one) })),
  ];
  requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return requirements.map(({ text }) => text).join(',');
}

function expressionText(expression: JsonObject): string {
  const key = String(expression['key']);
  if (expression['operator'] === 'Exists') return key;
  if (expression['operator'] === 'DoesNotExist') return `!${key}`;
  const operator = operators[String(expression['operator'])] ?? '';
  return `${key} ${operator} (${stringsAt(expression, 'values').sort().join(',')})`;
}
