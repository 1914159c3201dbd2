/** With which rights containers and pods run. */

import { child, index, invalid, notSupported, required, tooLong } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength, idReasons } from '../../formats.ts';
import { checkOneOf, checkReasons, isSet } from '../base/checks.ts';
import { checkDescendingPath } from '../base/paths.ts';
import { serverForm } from '../server-form/render.ts';
import type { PodSpec, ProfileField, SecurityContext } from '../types/pod.ts';
import type { PodRules } from './rules.ts';
import { checkSysctls } from './sysctls.ts';
import { checkWindowsOptions } from './windows.ts';

export function checkSecurityContext(
  errors: FieldError[],
  path: string,
  context: SecurityContext | undefined,
  hasHostUsers: boolean,
): void {
  if (!context) return;
  checkId(errors, child(path, 'runAsUser'), context.runAsUser);
  checkId(errors, child(path, 'runAsGroup'), context.runAsGroup);
  const { procMount } = context;
  if (isSet(procMount)) {
    const at = child(path, 'procMount');
    checkOneOf(errors, at, procMount, ['Default', 'Unmasked']);
    if (hasHostUsers && procMount === 'Unmasked') {
      errors.push(invalid(at, procMount, '`hostUsers` must be false to use `Unmasked`'));
    }
  }
  checkSeccomp(errors, child(path, 'seccompProfile'), context.seccompProfile);
  if (context.allowPrivilegeEscalation === false) checkEscalation(errors, path, context);
  checkWindowsOptions(errors, child(path, 'windowsOptions'), context.windowsOptions);
  checkAppArmor(errors, child(path, 'appArmorProfile'), context.appArmorProfile);
}

function checkEscalation(errors: FieldError[], path: string, context: SecurityContext): void {
  const refuse = (what: string): void => {
    const shown = serverForm('SecurityContext', context);
    errors.push(invalid(path, shown, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`));
  };
  if (context.privileged === true) refuse('`privileged` to true');
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === 'CAP_SYS_ADMIN') refuse('`capabilities.Add` CAP_SYS_ADMIN');
  }
}

function checkId(errors: FieldError[], path: string, id: number | undefined): void {
  if (isSet(id)) checkReasons(errors, path, id, idReasons(id));
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function checkSeccomp(errors: FieldError[], path: string, profile: ProfileField | undefined): void {
  if (!profile) return;
  const { type = '', localhostProfile } = profile;
  const at = child(path, 'localhostProfile');
  if (type === '') errors.push(required(child(path, 'type'), 'type is required when seccompProfile is set'));
  else checkOneOf(errors, child(path, 'type'), type, profileTypes);
  if (type !== 'Localhost') {
    if (isSet(localhostProfile)) {
      const shown = serverForm('SeccompProfile', profile);
      errors.push(invalid(at, shown, 'can only be set when seccomp type is Localhost'));
    }
  } else if (!isSet(localhostProfile)) {
    errors.push(required(at, 'must be set when seccomp type is Localhost'));
  } else {
    checkDescendingPath(errors, at, localhostProfile);
  }
}

/** The longest path of Linux. */
const appArmorPathMax = 4095;

function checkAppArmor(errors: FieldError[], path: string, profile: ProfileField | undefined): void {
  if (!profile) return;
  const { type = '', localhostProfile } = profile;
  const at = child(path, 'localhostProfile');
  const needed = 'must be set when AppArmor type is Localhost';
  switch (type) {
    case 'Localhost':
      if (!isSet(localhostProfile)) {
        errors.push(required(at, needed));
        return;
      }
      if (localhostProfile.trim() !== localhostProfile) {
        errors.push(invalid(at, localhostProfile, 'must not be padded with whitespace'));
      } else if (localhostProfile === '') errors.push(required(at, needed));
      if (byteLength(localhostProfile) > appArmorPathMax) errors.push(tooLong(at, appArmorPathMax));
      return;
    case 'RuntimeDefault':
    case 'Unconfined':
      if (isSet(localhostProfile)) {
        errors.push(invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost'));
      }
      return;
    case '':
      errors.push(required(child(path, 'type'), 'type is required when appArmorProfile is set'));
      return;
    default:
      errors.push(notSupported(child(path, 'type'), type, profileTypes));
  }
}

export function checkPodSecurityContext(errors: FieldError[], path: string, spec: PodSpec, rules: PodRules): void {
  const context = spec.securityContext ?? {};
  for (const name of ['fsGroup', 'runAsUser', 'runAsGroup'] as const) {
    checkId(errors, child(path, name), context[name]);
  }
  for (const [i, group] of (context.supplementalGroups ?? []).entries()) {
    checkId(errors, index(child(path, 'supplementalGroups'), i), group);
  }
  if (spec.hostPID && spec.shareProcessNamespace) {
    const reason = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalid(child(path, 'shareProcessNamespace'), true, reason));
  }
  checkSysctls(errors, child(path, 'sysctls'), spec, rules);
  const { fsGroupChangePolicy, supplementalGroupsPolicy, seLinuxChangePolicy } = context;
  if (isSet(fsGroupChangePolicy)) {
    checkOneOf(errors, child(path, 'fsGroupChangePolicy'), fsGroupChangePolicy, ['Always', 'OnRootMismatch']);
  }
  checkSeccomp(errors, child(path, 'seccompProfile'), context.seccompProfile);
  checkWindowsOptions(errors, child(path, 'windowsOptions'), context.windowsOptions);
  checkAppArmor(errors, child(path, 'appArmorProfile'), context.appArmorProfile);
  if (isSet(supplementalGroupsPolicy)) {
    checkOneOf(errors, child(path, 'supplementalGroupsPolicy'), supplementalGroupsPolicy, ['Merge', 'Strict']);
  }
  if (isSet(seLinuxChangePolicy)) {
    const allowed = rules.allowsAnySeLinuxChangePolicy ? ['MountOption', 'Recursive'] : ['Recursive'];
    checkOneOf(errors, child(path, 'seLinuxChangePolicy'), seLinuxChangePolicy, allowed);
  }
}
