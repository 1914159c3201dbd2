/** Processes a decoded object like our server up to its validation: the strategy, and a Service's addresses. */

import { builtinResource } from '../../../builtin/schemas.ts';
import type { KubeObject } from '../../../object.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { builtinStrategy } from '../../../strategy/index.ts';
import type { Strategy, SubresourceName } from '../../../strategy/contract.ts';
import { structOf, textOf, textsOf } from '../../shared/read.ts';
import { clusterIpErrors } from '../service-cluster-ips.ts';
import type { Outcome } from './differential.ts';
import { needsHealthCheck } from '../service-traffic.ts';

/** Parses `/api/v1/namespaces/default/pods/x/status`. */
const form = /^\/apis?(?:\/([^/]+\.[^/]+|policy|autoscaling))?\/([^/]+)\/(?:namespaces\/([^/]+)\/)?([a-z]+)/;

function placeOf(path: string): { strategy: Strategy; namespace: string | undefined } {
  const [, group = '', version = '', namespace, resource = ''] = form.exec(path)!;
  const found = builtinResource({ group, version, resource })!;
  return { strategy: builtinStrategy(found), namespace };
}

export const allowsUnconditionalUpdate = (path: string): boolean => placeOf(path).strategy.allowsUnconditionalUpdate;

export function onCreate(path: string, object: KubeObject): Outcome {
  const { strategy, namespace } = placeOf(path);
  if (namespace !== undefined) object.metadata.namespace = namespace;
  const early = object.kind === 'Service' ? allocate(object, undefined) : [];
  if (early.length > 0) return { errors: early, warnings: [] };
  strategy.prepareForCreate(object);
  return { errors: strategy.validateCreate(object), warnings: strategy.warningsOnCreate(object) };
}

export function onUpdate(path: string, object: KubeObject, old: KubeObject, subresource: SubresourceName): Outcome {
  const { strategy } = placeOf(path);
  strategy.prepareForUpdate(object, old, subresource);
  if (object.kind === 'Service' && subresource === '') {
    const early = allocate(object, old);
    if (early.length > 0) return { errors: early, warnings: [] };
  }
  const warnings = subresource === '' ? strategy.warningsOnUpdate(object, old) : [];
  return { errors: strategy.validateUpdate(object, old, subresource), warnings };
}

/** An allocator refuses unusable values before anything else is checked. */
function allocate(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = structOf(object, 'spec');
  if (needsHealthCheck(spec)) spec['healthCheckNodePort'] ??= 30_000;
  if (textOf(spec, 'type') === 'ExternalName') return [];
  if (!old && textOf(spec, 'clusterIP') !== '' && textsOf(spec, 'clusterIPs').length === 0) {
    spec['clusterIPs'] = [spec['clusterIP']];
  }
  const errors = clusterIpErrors(spec, old && structOf(old, 'spec'));
  if (errors.length > 0) return errors;
  if (textOf(spec, 'clusterIP') === '') Object.assign(spec, { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5'] });
  spec['ipFamilies'] ??= ['IPv4'];
  spec['ipFamilyPolicy'] ??= 'SingleStack';
  return [];
}
