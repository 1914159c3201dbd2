/** Rules for Windows pods. */

import { child, forbidden, invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength, dnsSubdomainReasons } from '../../formats.ts';
import { checkReasons, isSet } from '../base/checks.ts';
import type { PodSpec, WindowsOptions } from '../types/pod.ts';
import { visitContainers } from './containers-of.ts';

const credentialKibMax = 64;

export function checkWindowsOptions(errors: FieldError[], path: string, options: WindowsOptions | undefined): void {
  if (!options) return;
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: credential, runAsUserName } = options;
  if (isSet(name)) checkReasons(errors, child(path, 'gmsaCredentialSpecName'), name, dnsSubdomainReasons(name));
  const at = child(path, 'gmsaCredentialSpec');
  if (credential === '') errors.push(invalid(at, '', 'gmsaCredentialSpec cannot be an empty string'));
  else if (isSet(credential) && byteLength(credential) > credentialKibMax * 1024) {
    errors.push(invalid(at, credential, `gmsaCredentialSpec size must be under ${credentialKibMax} KiB`));
  }
  if (isSet(runAsUserName)) {
    const reasons = userNameReasons(runAsUserName).map((reason) => `runAsUserName${reason}`);
    checkReasons(errors, child(path, 'runAsUserName'), runAsUserName, reasons);
  }
}

const domainMax = 256;
const userMax = 104;
const isNetBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const isDomain = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** `user`, or `domain\user`. */
function userNameReasons(name: string): string[] {
  if (name === '') return [' cannot be an empty string'];
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(name)) return [' cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const user = parts.at(-1)!;
  const domain = parts.length === 2 ? parts[0]! : undefined;
  const reasons: string[] = [];
  if (domain !== undefined) {
    const isLong = byteLength(domain) >= domainMax;
    if (isLong) reasons.push(`'s Domain length must be under ${domainMax} characters`);
    if (isLong || !(isNetBios.test(domain) || isDomain.test(domain))) {
      reasons.push("'s Domain doesn't match the NetBios nor the DNS format");
    }
  }
  if (user === '') reasons.push("'s User cannot be empty");
  else if (byteLength(user) > userMax) {
    reasons.push(`'s User length must not be longer than ${userMax} characters`);
  }
  if (/^[. ]+$/.test(user)) reasons.push("'s User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    reasons.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  }
  return reasons;
}

/** Host processes: all containers of a pod or none. */
export function checkHostProcesses(errors: FieldError[], path: string, spec: PodSpec): void {
  const podValue = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = visitContainers(spec, path);
  let count = 0;
  for (const { container, path: at } of containers) {
    const value = container.securityContext?.windowsOptions?.hostProcess;
    if (isSet(podValue) && isSet(value) && podValue !== value) {
      const reason = `pod hostProcess value must be identical if both are specified, was ${podValue}`;
      errors.push(invalid(child(at, 'securityContext.windowsOptions.hostProcess'), value, reason));
    }
    if (value ?? podValue ?? false) count++;
  }
  if (count === 0) return;
  if (count !== containers.length) {
    const reason = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.push(invalid(path, '', reason));
  }
  if (spec.hostNetwork !== true) {
    const reason = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.push(invalid(child(path, 'hostNetwork'), false, reason));
  }
}

/** Paths are relative to the pod's spec, in the order of reports. */
const linuxOnlyInPod: readonly (readonly [path: string, isThere: (spec: PodSpec) => unknown])[] = [
  ['securityContext.appArmorProfile', (spec) => spec.securityContext?.appArmorProfile],
  ['securityContext.seLinuxOptions', (spec) => spec.securityContext?.seLinuxOptions],
  ['hostUsers', (spec) => isSet(spec.hostUsers)],
  ['hostPID', (spec) => spec.hostPID],
  ['hostIPC', (spec) => spec.hostIPC],
  ['securityContext.seccompProfile', (spec) => spec.securityContext?.seccompProfile],
  ['securityContext.fsGroup', (spec) => isSet(spec.securityContext?.fsGroup)],
  ['securityContext.fsGroupChangePolicy', (spec) => isSet(spec.securityContext?.fsGroupChangePolicy)],
  ['securityContext.sysctls', (spec) => (spec.securityContext?.sysctls?.length ?? 0) > 0],
  ['shareProcessNamespace', (spec) => isSet(spec.shareProcessNamespace)],
  ['securityContext.runAsUser', (spec) => isSet(spec.securityContext?.runAsUser)],
  ['securityContext.runAsGroup', (spec) => isSet(spec.securityContext?.runAsGroup)],
  ['securityContext.supplementalGroups', (spec) => spec.securityContext?.supplementalGroups],
  ['securityContext.supplementalGroupsPolicy', (spec) => isSet(spec.securityContext?.supplementalGroupsPolicy)],
  ['securityContext.seLinuxChangePolicy', (spec) => isSet(spec.securityContext?.seLinuxChangePolicy)],
];

const linuxOnlyInContainer = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

export function checkWindowsPod(errors: FieldError[], path: string, spec: PodSpec): void {
  const reason = 'cannot be set for a windows pod';
  for (const [name, isThere] of linuxOnlyInPod) if (isThere(spec)) errors.push(forbidden(child(path, name), reason));
  for (const { container, path: at } of visitContainers(spec, path)) {
    for (const name of linuxOnlyInContainer) {
      if (!isSet(container.securityContext?.[name])) continue;
      errors.push(forbidden(child(at, `securityContext.${name}`), reason));
    }
  }
}

export function checkLinuxPod(errors: FieldError[], path: string, spec: PodSpec): void {
  const reason = 'windows options cannot be set for a linux pod';
  const places = [{ container: { securityContext: spec.securityContext }, path }, ...visitContainers(spec, path)];
  for (const { container, path: at } of places) {
    if (!container.securityContext?.windowsOptions) continue;
    errors.push(forbidden(child(at, 'securityContext.windowsOptions'), reason));
  }
}
