/**
 * The arguments of a program. There are three kinds of flags, distinguished by name (Kubernetes treats `_` as `-` in names):
 *
 *   ours       cluster, folder and health port: values of the user are dropped
 *   defaults   good for a fleet; the user may override them
 *   the rest   set by the user
 *
 * Ours come first, so that a flag of the user without a value cannot consume one of ours as its value. This matters: a program that loses
 * its `--kubeconfig` would work on the cluster that this pod runs in.
 */

import type { Place } from '../../child/contract.ts';
import type { Service } from '../../contract.ts';

export const programNames: Readonly<Record<Service, string>> = {
  controllers: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
};

/** File in the program's folder with the address and credentials of the cluster. */
export const kubeconfigFile = 'kubeconfig';

const alwaysOpen = '/healthz,/livez,/readyz,/metrics';

const ours = ({ folder, port }: Place): readonly string[] => [
  `--kubeconfig=${folder}/${kubeconfigFile}`,
  // Ownership is decided before the start.
  '--leader-elect=false',
  '--bind-address=127.0.0.1',
  `--secure-port=${port}`,
  `--cert-dir=${folder}/certs`,
  `--authorization-always-allow-paths=${alwaysOpen}`,
];

/** `master` would override the address of the kubeconfig. */
const ourNames: ReadonlySet<string> = new Set([
  ...ours({ folder: '', port: 0 }).map((flag) => nameOf(flag)!),
  'master',
]);

const defaults: Readonly<Record<Service, readonly string[]>> = {
  controllers: ['--profiling=false', '--use-service-account-credentials=true'],
  scheduler: ['--profiling=false'],
};

export function programArguments(service: Service, given: readonly string[], place: Place): readonly string[] {
  const users = withoutOurs(given);
  const named = new Set(users.map(nameOf));
  return [...ours(place), ...defaults[service].filter((flag) => !named.has(nameOf(flag))), ...users];
}

/** Returns why the program would not work with these flags; undefined when it would. */
export function argumentsProblem(service: Service, given: readonly string[]): string | undefined {
  if (service === 'scheduler' && given.some((flag) => nameOf(flag) === 'config')) {
    return 'kube-scheduler ignores --kubeconfig when --config is set, so --config is not supported';
  }
  return undefined;
}

function withoutOurs(given: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < given.length; at++) {
    const flag = given[at]!;
    const name = nameOf(flag);
    if (name === undefined || !ourNames.has(name)) kept.push(flag);
    // `--name value`
    else if (!flag.includes('=') && given[at + 1]?.startsWith('-') === false) at++;
  }
  return kept;
}

function nameOf(flag: string): string | undefined {
  return /^--([^=]+)/.exec(flag)?.[1]?.replaceAll('_', '-');
}

/** The program's name for itself: the first word of its user agent, so that audit logs show which replica acted. */
export const argv0Of = (service: Service, peer: string): string =>
  `${service === 'controllers' ? 'hangar-controller-manager' : 'hangar-scheduler'}.${peer}`;
