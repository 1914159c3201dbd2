/** Checks of all kinds of containers. */

import { child, duplicate, index, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { portNameReasons, portNumberReasons } from '../../formats.ts';
import { checkLabelName, checkReasons, checkRequired, checkRequiredOneOf } from '../base/checks.ts';
import type { Container, ContainerPort, ResizePolicy } from '../types/pod.ts';
import { checkEnvironment } from './environment.ts';
import { checkDevices, checkMounts } from './mounts.ts';
import type { Volumes } from './mounts.ts';
import { checkResources } from './resources.ts';
import type { ResourceScope } from './resources.ts';
import { checkSecurityContext } from './security-context.ts';

/** Parts of the pod that containers use. */
export interface ContainerScope extends ResourceScope {
  readonly volumes: Volumes;
  readonly podRestartPolicy: string;
  /** The pod uses the host's user namespace. */
  readonly hasHostUsers: boolean;
}

export const pullPolicies = ['Always', 'IfNotPresent', 'Never'];

export function checkContainer(errors: FieldError[], path: string, container: Container, scope: ContainerScope): void {
  const { name = '', image, imagePullPolicy = '', terminationMessagePolicy = '', ports } = container;
  checkLabelName(errors, child(path, 'name'), name);
  checkRequired(errors, child(path, 'image'), image);
  checkRequiredOneOf(errors, child(path, 'terminationMessagePolicy'), terminationMessagePolicy, [
    'File',
    'FallbackToLogsOnError',
  ]);
  checkPorts(errors, child(path, 'ports'), ports ?? []);
  checkEnvironment(errors, path, container);
  checkMounts(errors, path, container, scope.volumes);
  checkDevices(errors, path, container, scope.volumes);
  checkRequiredOneOf(errors, child(path, 'imagePullPolicy'), imagePullPolicy, pullPolicies);
  checkResources(errors, child(path, 'resources'), container.resources, scope);
  checkResizePolicies(errors, child(path, 'resizePolicy'), container.resizePolicy ?? [], scope.podRestartPolicy);
  checkSecurityContext(errors, child(path, 'securityContext'), container.securityContext, scope.hasHostUsers);
}

function checkPorts(errors: FieldError[], path: string, ports: readonly ContainerPort[]): void {
  const names = new Set<string>();
  for (const [i, port] of ports.entries()) {
    const at = index(path, i);
    checkPortName(errors, path, i, port.name ?? '', names);
    const { containerPort = 0, hostPort = 0, protocol = '' } = port;
    if (containerPort === 0) errors.push(required(child(at, 'containerPort'), ''));
    else checkReasons(errors, child(at, 'containerPort'), containerPort, portNumberReasons(containerPort));
    if (hostPort !== 0) checkReasons(errors, child(at, 'hostPort'), hostPort, portNumberReasons(hostPort));
    checkRequiredOneOf(errors, child(at, 'protocol'), protocol, ['SCTP', 'TCP', 'UDP']);
  }
}

function checkPortName(errors: FieldError[], path: string, i: number, name: string, names: Set<string>): void {
  if (name === '') return;
  const at = child(index(path, i), 'name');
  const reasons = portNameReasons(name);
  checkReasons(errors, at, name, reasons);
  if (reasons.length > 0) return;
  if (names.has(name)) errors.push(duplicate(at, name));
  names.add(name);
}

/** All errors except duplicates have the path of the list. */
function checkResizePolicies(
  errors: FieldError[],
  path: string,
  policies: readonly ResizePolicy[],
  podRestartPolicy: string,
): void {
  const seen = new Set<string>();
  for (const [i, { resourceName = '', restartPolicy = '' }] of policies.entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(index(path, i), resourceName));
    seen.add(resourceName);
    if (resourceName === '') errors.push(required(path, ''));
    else if (resourceName !== 'cpu' && resourceName !== 'memory') {
      errors.push(notSupported(path, resourceName, ['cpu', 'memory']));
    }
    checkRequiredOneOf(errors, path, restartPolicy, ['NotRequired', 'RestartContainer']);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
}
