/** The containers of a pod: those that do its work, those that prepare it, and those added to a running one. */

import {
  child,
  duplicate,
  forbidden,
  index,
  invalid,
  notFoundValue,
  required,
  tooMany,
} from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { checkPart } from '../../shared/part.ts';
import { checkOneOf, checkUnique, isEmpty, isSet } from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import type { Container, PodSpec } from '../types/pod.ts';
import { checkContainer } from './container.ts';
import type { ContainerScope } from './container.ts';
import { checkLifecycle, checkProbes } from './probes.ts';

export function checkContainers(errors: FieldError[], path: string, spec: PodSpec, scope: ContainerScope): void {
  const containers = spec.containers ?? [];
  if (isEmpty(containers)) {
    errors.push(required(path, ''));
    return;
  }
  const names = new Set<string>();
  for (const [i, container] of containers.entries()) {
    const at = index(path, i);
    checkPart(errors, (own) => checkContainer(own, at, container, scope));
    checkUnique(errors, child(at, 'name'), container.name ?? '', names);
    checkPart(errors, (own) => {
      if (container.lifecycle) checkLifecycle(own, child(at, 'lifecycle'), container.lifecycle, spec);
      checkProbes(own, at, container, spec);
      checkRestartPolicy(own, at, container);
    });
  }
  checkHostPorts(errors, path, containers);
}

/** Only those that keep running can be watched. */
const onlyForSidecars = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

export function checkInitContainers(errors: FieldError[], path: string, spec: PodSpec, scope: ContainerScope): void {
  const names = new Set((spec.containers ?? []).map(({ name = '' }) => name));
  for (const [i, container] of (spec.initContainers ?? []).entries()) {
    const at = index(path, i);
    const { name = '', restartPolicy, restartPolicyRules, lifecycle, resizePolicy } = container;
    checkPart(errors, (own) => checkContainer(own, at, container, scope));
    if (isSet(restartPolicy)) checkRestartPolicy(errors, at, container);
    else if (!isEmpty(restartPolicyRules)) errors.push(required(child(at, 'restartPolicy'), missingRestartPolicy));
    if (names.has(name)) errors.push(duplicate(child(at, 'name'), name));
    else if (name !== '') names.add(name);
    checkHostPorts(errors, path, [container]);
    const isSidecar = restartPolicy === 'Always';
    if (isSidecar) {
      if (lifecycle) checkLifecycle(errors, child(at, 'lifecycle'), lifecycle, spec);
      checkProbes(errors, at, container, spec);
    } else {
      for (const field of onlyForSidecars) {
        if (!container[field]) continue;
        errors.push(forbidden(child(at, field), 'may not be set for init containers without restartPolicy=Always'));
      }
    }
    if (isSidecar || scope.rules.allowsRestartingInitContainers) continue;
    for (const [j, policy] of (resizePolicy ?? []).entries()) {
      if (policy.restartPolicy !== 'RestartContainer') continue;
      const reason = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      const policyPath = child(index(child(at, 'resizePolicy'), j), 'restartPolicy');
      errors.push(invalid(policyPath, policy.restartPolicy, reason));
    }
  }
}

const restartRulesMax = 20;
const exitCodesMax = 255;
const missingRestartPolicy = 'must specify restartPolicy when restart rules are used';

function checkRestartPolicy(errors: FieldError[], path: string, container: Container): void {
  const { restartPolicy, restartPolicyRules } = container;
  const rules = restartPolicyRules ?? [];
  const policyPath = child(path, 'restartPolicy');
  if (isSet(restartPolicy)) checkOneOf(errors, policyPath, restartPolicy, ['Always', 'Never', 'OnFailure']);
  else if (rules.length > 0) {
    errors.push(required(policyPath, missingRestartPolicy));
  }
  const rulesPath = child(path, 'restartPolicyRules');
  if (rules.length > restartRulesMax) errors.push(tooMany(rulesPath, rules.length, restartRulesMax));
  for (const [i, { action = '', exitCodes }] of rules.entries()) {
    const at = index(rulesPath, i);
    checkOneOf(errors, child(at, 'action'), action, ['Restart', 'RestartAllContainers']);
    const codesPath = child(at, 'exitCodes');
    if (!exitCodes) {
      errors.push(required(codesPath, 'must be specified'));
      continue;
    }
    checkOneOf(errors, child(codesPath, 'operator'), exitCodes.operator ?? '', ['In', 'NotIn']);
    const count = exitCodes.values?.length ?? 0;
    if (count > exitCodesMax) errors.push(tooMany(child(codesPath, 'values'), count, exitCodesMax));
  }
}

/** No two containers of a pod can have one port of the host. */
function checkHostPorts(errors: FieldError[], path: string, containers: readonly Container[]): void {
  const taken = new Set<string>();
  for (const [i, { ports }] of containers.entries()) {
    for (const [j, { hostPort = 0, hostIP = '', protocol = '' }] of (ports ?? []).entries()) {
      if (hostPort === 0) continue;
      const at = child(index(child(index(path, i), 'ports'), j), 'hostPort');
      checkUnique(errors, at, `${protocol}/${hostIP}/${hostPort}`, taken);
    }
  }
}

/** In the order in which the server declares them. */
const notForEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

export function checkEphemeralContainers(
  errors: FieldError[],
  path: string,
  spec: PodSpec,
  scope: ContainerScope,
): void {
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name));
  const names = new Set(others);
  const reason = 'cannot be set for an Ephemeral Container';
  for (const [i, container] of (spec.ephemeralContainers ?? []).entries()) {
    const at = index(path, i);
    const { name = '', targetContainerName = '' } = container;
    checkPart(errors, (own) => checkContainer(own, at, container, scope));
    checkImageText(errors, at, container);
    checkUnique(errors, child(at, 'name'), name, names);
    if (targetContainerName !== '' && !others.has(targetContainerName)) {
      errors.push(notFoundValue(child(at, 'targetContainerName'), targetContainerName));
    }
    for (const field of notForEphemeral) {
      if (!isUnset(field, container)) errors.push(forbidden(child(at, field), reason));
    }
    for (const [j, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
      const mount = index(child(at, 'volumeMounts'), j);
      if (subPath) errors.push(forbidden(child(mount, 'subPath'), reason));
      if (subPathExpr) errors.push(forbidden(child(mount, 'subPathExpr'), reason));
    }
  }
}

/** `resources` is always there, so it is not set unless something in it is. */
function isUnset(field: (typeof notForEphemeral)[number], container: Container): boolean {
  const value = container[field];
  if (Array.isArray(value)) return value.length === 0;
  if (field !== 'resources') return !isSet(value);
  return Object.values(container.resources ?? {}).every((part) => Object.keys(part ?? {}).length === 0);
}

/** Templates are not held to this: they were not checked when it was made a rule. */
export function checkImageTexts(errors: FieldError[], path: string, containers: List<Container> | undefined): void {
  for (const [i, container] of (containers ?? []).entries()) checkImageText(errors, index(path, i), container);
}

export function checkImageText(errors: FieldError[], path: string, { image = '' }: Container): void {
  if (image.trim() === image) return;
  errors.push(invalid(child(path, 'image'), image, 'must not have leading or trailing whitespace'));
}
