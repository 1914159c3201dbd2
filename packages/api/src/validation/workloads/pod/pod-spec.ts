/** The spec of a pod, also in a template. */

import type { ObjectMeta } from '../../../object.ts';
import { child, index, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { nameIsSubdomain } from '../../formats.ts';
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkQualifiedName,
  checkRange,
  checkReasons,
  checkRequiredOneOf,
  checkUnique,
  isSet,
} from '../base/checks.ts';
import { checkIp } from '../base/ip-addresses.ts';
import { checkLabels } from '../base/label-selectors.ts';
import type { PodSpec } from '../types/pod.ts';
import { checkAffinity } from './affinity.ts';
import type { ContainerScope } from './container.ts';
import { checkContainers, checkEphemeralContainers, checkInitContainers } from './containers.ts';
import { checkDns } from './dns.ts';
import { checkFileKeyVolumes, checkHostName, checkHostPortsMatch, checkUserNamespace } from './host.ts';
import { checkPodResources } from './pod-resources.ts';
import { checkResourceClaims } from './resource-claims.ts';
import { checkResources } from './resources.ts';
import type { PodRules } from './rules.ts';
import { checkPodSecurityContext } from './security-context.ts';
import { checkSpreading } from './spreading.ts';
import { checkTolerations } from './tolerations.ts';
import { checkVolumes } from './volumes.ts';
import { checkHostProcesses, checkLinuxPod, checkWindowsPod } from './windows.ts';

export interface SpecScope {
  readonly rules: PodRules;
  /** Of a pod; that of a template is ignored. */
  readonly metadata?: ObjectMeta | undefined;
}

export function checkPodSpec(errors: FieldError[], path: string, spec: PodSpec, scope: SpecScope): void {
  const { rules } = scope;
  const at = (name: string): string => child(path, name);
  if (!isSet(spec.terminationGracePeriodSeconds)) errors.push(required(at('terminationGracePeriodSeconds'), ''));
  const volumes = checkVolumes(errors, at('volumes'), spec.volumes, scope);
  const claims = checkResourceClaims(errors, at('resourceClaims'), spec, scope.metadata);
  const containerScope: ContainerScope = {
    rules,
    volumes,
    claims,
    podRestartPolicy: spec.restartPolicy ?? '',
    hasHostUsers: spec.hostUsers !== false,
  };
  checkContainers(errors, at('containers'), spec, containerScope);
  checkInitContainers(errors, at('initContainers'), spec, containerScope);
  checkEphemeralContainers(errors, at('ephemeralContainers'), spec, containerScope);
  checkPodResources(errors, at('resources'), spec, { rules, claims });
  checkHostPortsMatch(errors, at('containers'), spec, rules);
  checkRequiredOneOf(errors, at('restartPolicy'), spec.restartPolicy ?? '', ['Always', 'OnFailure', 'Never']);
  checkRequiredOneOf(errors, at('dnsPolicy'), spec.dnsPolicy ?? '', [
    'ClusterFirstWithHostNet',
    'ClusterFirst',
    'Default',
    'None',
  ]);
  checkLabels(errors, at('nodeSelector'), spec.nodeSelector);
  checkPodSecurityContext(errors, at('securityContext'), spec, rules);
  checkAffinity(errors, at('affinity'), spec.affinity, rules);
  checkDns(errors, at('dnsConfig'), spec);
  checkGates(errors, path, spec);
  checkSpreading(errors, at('topologySpreadConstraints'), spec, rules);
  checkHostProcesses(errors, path, spec);
  checkUserNamespace(errors, path, spec, rules);
  checkHostName(errors, at('hostnameOverride'), spec);
  checkNames(errors, path, spec, rules);
  if (spec.preemptionPolicy !== undefined) {
    const policies = ['PreemptLowerPriority', 'Never'];
    checkRequiredOneOf(errors, at('preemptionPolicy'), spec.preemptionPolicy, policies);
  }
  if (spec.overhead) checkResources(errors, at('overhead'), { limits: spec.overhead }, { rules, claims: new Set() });
  checkOs(errors, path, spec);
  checkSchedulingGroup(errors, child(at('schedulingGroup'), 'podGroupName'), spec);
  checkFileKeyVolumes(errors, path, spec);
}

function checkGates(errors: FieldError[], path: string, { readinessGates, schedulingGates }: PodSpec): void {
  for (const [i, { conditionType = '' }] of (readinessGates ?? []).entries()) {
    checkQualifiedName(errors, child(index(child(path, 'readinessGates'), i), 'conditionType'), conditionType);
  }
  const seen = new Set<string>();
  for (const [i, { name = '' }] of (schedulingGates ?? []).entries()) {
    const at = index(child(path, 'schedulingGates'), i);
    checkQualifiedName(errors, at, name);
    checkUnique(errors, at, name, seen);
  }
}

/** Small things that are mostly names of other things, between which the order of reports has nothing else. */
function checkNames(errors: FieldError[], path: string, spec: PodSpec, rules: PodRules): void {
  const at = (name: string): string => child(path, name);
  checkName(errors, at('serviceAccountName'), spec.serviceAccountName);
  checkName(errors, at('nodeName'), spec.nodeName);
  if (isSet(spec.activeDeadlineSeconds)) {
    checkRange(errors, at('activeDeadlineSeconds'), spec.activeDeadlineSeconds, [1, 2 ** 31 - 1]);
  }
  if (spec.hostname) checkDnsLabel(errors, at('hostname'), spec.hostname);
  if (spec.subdomain) checkDnsLabel(errors, at('subdomain'), spec.subdomain);
  checkTolerations(errors, at('tolerations'), spec.tolerations, rules);
  for (const [i, { ip = '', hostnames }] of (spec.hostAliases ?? []).entries()) {
    const alias = index(at('hostAliases'), i);
    checkIp(errors, child(alias, 'ip'), ip);
    for (const [j, name] of (hostnames ?? []).entries()) {
      checkDnsSubdomain(errors, index(child(alias, 'hostnames'), j), name);
    }
  }
  checkName(errors, at('priorityClassName'), spec.priorityClassName);
  const { runtimeClassName } = spec;
  if (isSet(runtimeClassName)) {
    checkReasons(errors, at('runtimeClassName'), runtimeClassName, nameIsSubdomain(runtimeClassName, false));
  }
}

function checkName(errors: FieldError[], path: string, name: string | undefined): void {
  if (name) checkReasons(errors, path, name, nameIsSubdomain(name, false));
}

function checkOs(errors: FieldError[], path: string, spec: PodSpec): void {
  if (!spec.os) return;
  const { name = '' } = spec.os;
  const at = child(path, 'os');
  if (name === '') errors.push(required(child(at, 'name'), ''));
  else if (name === 'linux') checkLinuxPod(errors, path, spec);
  else if (name === 'windows') checkWindowsPod(errors, path, spec);
  else errors.push(notSupported(at, name, ['linux', 'windows']));
}

function checkSchedulingGroup(errors: FieldError[], path: string, { schedulingGroup }: PodSpec): void {
  if (!schedulingGroup) return;
  const { podGroupName } = schedulingGroup;
  if (!isSet(podGroupName)) errors.push(invalid(path, null, 'must specify one of: `podGroupName`'));
  else checkReasons(errors, path, podGroupName, nameIsSubdomain(podGroupName, false));
}
