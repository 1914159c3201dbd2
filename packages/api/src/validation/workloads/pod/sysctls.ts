/** Kernel parameters of a pod: only those of namespaces that are the pod's own. */

import { child, duplicate, index, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { byteLength } from '../../formats.ts';
import type { PodSpec } from '../types/pod.ts';
import type { PodRules } from './rules.ts';

const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const pattern = `^(${segment}[\\./])*${segment}$`;
/** Linear, unlike the pattern of the message, which backtracks. */
const isName = /^[a-z0-9](?:[-_a-z0-9./]*[a-z0-9])?$/;
const hasBadSeam = /[-_./][./]|[./][-_]/;
const lengthMax = 253;

const isValidName = (name: string): boolean =>
  byteLength(name) <= lengthMax && isName.test(name) && !hasBadSeam.test(name);

export function checkSysctls(errors: FieldError[], path: string, spec: PodSpec, rules: PodRules): void {
  const seen = new Set<string>();
  for (const [i, { name = '' }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const namePath = child(index(path, i), 'name');
    if (name === '') errors.push(required(namePath, ''));
    else if (!isValidName(name)) {
      errors.push(invalid(namePath, name, `must have at most ${lengthMax} characters and match regex ${pattern}`));
    } else if (seen.has(name)) errors.push(duplicate(namePath, name));
    const reason = rules.allowsHostSysctls ? undefined : hostSysctlReason(name, spec);
    if (reason) errors.push(invalid(namePath, name, reason));
    seen.add(name);
  }
}

const ipcNames = /^kernel\.(?:sem|shm|shmall|shmmax|shmmni|shm_rmid_forced|msg|msgmax|msgmnb|msgmni)$/;

/** Why the host, in whose namespace the pod runs, would be changed. */
export function hostSysctlReason(sysctl: string, { hostNetwork, hostIPC }: PodSpec): string | undefined {
  const name = dotted(sysctl).split('*')[0]!;
  if (hostNetwork && name.startsWith('net.')) return "may not be specified when 'hostNetwork' is true";
  const isIpc = ipcNames.test(name) || name.startsWith('fs.mqueue.');
  return hostIPC && isIpc ? "may not be specified when 'hostIPC' is true" : undefined;
}

/** `net/ipv4/conf/eth0.1/x` separates by slashes and may have dots in its parts. */
function dotted(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  return first === '/' ? name.replace(/[./]/g, (one) => (one === '/' ? '.' : '/')) : name;
}
