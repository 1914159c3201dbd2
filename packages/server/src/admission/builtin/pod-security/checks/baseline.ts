/** The baseline level: prevents known privilege escalations. */

import type { Container, Handler } from '../../pod.ts';
import { containersText, namesOf, plural, quoted, settersOf, sorted, unlessUserNamespace } from './check.ts';
import type { Check, Rule } from './check.ts';
import { appArmorProfile, baselineSeccompAnnotations, baselineSeccompProfile } from './profiles.ts';
import { sysctlRules } from './sysctls.ts';

const since0 = (check: Check): Rule['versions'] => [{ since: 0, check }];

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

const capabilities: Check = (spec) => {
  const added = new Set<string>();
  const bad = namesOf(spec, ({ securityContext }) => {
    const others = securityContext?.capabilities?.add?.filter((one) => !defaultCapabilities.has(one)) ?? [];
    for (const one of others) added.add(one);
    return others.length > 0;
  });
  if (bad.length === 0) return undefined;
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(bad)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`,
  };
};

const hostNamespaces: Check = ({ hostNetwork, hostPID, hostIPC }) => {
  const shared = [
    ...(hostNetwork ? ['hostNetwork=true'] : []),
    ...(hostPID ? ['hostPID=true'] : []),
    ...(hostIPC ? ['hostIPC=true'] : []),
  ];
  return shared.length === 0 ? undefined : { reason: 'host namespaces', detail: shared.join(', ') };
};

const hostPathVolumes: Check = ({ volumes }) => {
  const bad = volumes?.filter((volume) => volume['hostPath']).map(({ name = '' }) => name) ?? [];
  if (bad.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', bad.length)} ${quoted(bad)}` };
};

const hostPorts: Check = (spec) => {
  const ports = new Set<string>();
  const bad = namesOf(spec, (container) => {
    const own = container.ports?.flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : [])) ?? [];
    for (const port of own) ports.add(port);
    return own.length > 0;
  });
  if (bad.length === 0) return undefined;
  const what = `${plural('hostPort', 'hostPorts', ports.size)} ${sorted(ports).join(', ')}`;
  return { reason: 'hostPort', detail: `${containersText(bad)} ${plural('uses', 'use', bad.length)} ${what}` };
};

const hostsOf = (handler: Handler | null | undefined): string[] =>
  [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host) => !!host) as string[];

const handlersOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container) => [
  livenessProbe,
  readinessProbe,
  startupProbe,
  lifecycle?.postStart,
  lifecycle?.preStop,
];

const hostProbes: Check = (spec) => {
  const hosts = new Set<string>();
  const bad = new Set(
    namesOf(spec, (container) => {
      const own = handlersOf(container).flatMap(hostsOf);
      for (const host of own) hosts.add(host);
      return own.length > 0;
    }),
  );
  if (bad.size === 0) return undefined;
  const what = `${plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.size)} ${quoted(sorted(hosts))}`;
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(sorted(bad))} ${plural('uses', 'use', bad.size)} ${what}`,
  };
};

const privileged: Check = (spec) => {
  const bad = namesOf(spec, ({ securityContext }) => securityContext?.privileged === true);
  if (bad.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containersText(bad)} must not set securityContext.privileged=true` };
};

export const procMount: Check = (spec) => {
  const types = new Set<string>();
  const bad = namesOf(spec, ({ securityContext }) => {
    const type = securityContext?.procMount ?? 'Default';
    if (type === 'Default') return false;
    types.add(type);
    return true;
  });
  if (bad.length === 0) return undefined;
  const detail = `${containersText(bad)} must not set securityContext.procMount to ${quoted(sorted(types))}`;
  return { reason: 'procMount', detail };
};

const seLinuxOptions =
  (allowedTypes: ReadonlySet<string>): Check =>
  (spec) => {
    const types = new Set<string>();
    let [setsUser, setsRole] = [false, false];
    const setters = settersOf(spec, ({ seLinuxOptions: options }) => {
      if (!options) return false;
      const { type = '', user = '', role = '' } = options;
      if (!allowedTypes.has(type)) types.add(type);
      if (user !== '') setsUser = true;
      if (role !== '') setsRole = true;
      return !allowedTypes.has(type) || user !== '' || role !== '';
    });
    if (setters.length === 0) return undefined;
    const set = [
      ...(types.size > 0 ? [`${plural('type', 'types', types.size)} ${quoted(sorted(types))}`] : []),
      ...(setsUser ? ['user may not be set'] : []),
      ...(setsRole ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters.join(' and ')} set forbidden securityContext.seLinuxOptions: ${set.join('; ')}`,
    };
  };

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

const windowsHostProcess: Check = (spec) => {
  const setters = settersOf(spec, ({ windowsOptions }) => windowsOptions?.hostProcess === true);
  if (setters.length === 0) return undefined;
  return {
    reason: 'hostProcess',
    detail: `${setters.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

/** Sorted by id, which is the order of the reported violations. */
export const baselineRules: readonly Rule[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: since0(appArmorProfile) },
  { id: 'capabilities_baseline', level: 'baseline', versions: since0(capabilities) },
  { id: 'hostNamespaces', level: 'baseline', versions: since0(hostNamespaces) },
  { id: 'hostPathVolumes', level: 'baseline', versions: since0(hostPathVolumes) },
  { id: 'hostPorts', level: 'baseline', versions: since0(hostPorts) },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [{ since: 34, check: hostProbes }] },
  { id: 'privileged', level: 'baseline', versions: since0(privileged) },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      { since: 0, check: procMount },
      { since: 35, check: unlessUserNamespace(procMount) },
    ],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      { since: 0, check: seLinuxOptions(new Set(seLinuxTypes)) },
      { since: 31, check: seLinuxOptions(new Set([...seLinuxTypes, 'container_engine_t'])) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      { since: 0, check: baselineSeccompAnnotations },
      { since: 19, check: baselineSeccompProfile },
    ],
  },
  { id: 'sysctls', level: 'baseline', versions: sysctlRules },
  { id: 'windowsHostProcess', level: 'baseline', versions: since0(windowsHostProcess) },
];
