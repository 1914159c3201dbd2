/**
 * What a program is started with. Three kinds of flags, told apart by their names (Kubernetes takes `_` for `-` in them):
 *
 *   ours       where it works and how it is asked how it does: what the user says about these is left out
 *   defaults   good for a fleet; the user's word counts
 *   the rest   the user's
 *
 * Ours come first: a flag of the user's that lacks its value can then take none of ours for it. That is not for looks: a program
 * that loses its `--kubeconfig` would work on the cluster that this pod runs in.
 */

import type { Place } from '../../child/contract.ts';
import type { Service } from '../../contract.ts';

export const programNames: Readonly<Record<Service, string>> = {
  controllers: 'kube-controller-manager',
  scheduler: 'kube-scheduler',
};

/** The file in its folder with the cluster's address and credentials. */
export const kubeconfigFile = 'kubeconfig';

const alwaysOpen = '/healthz,/livez,/readyz,/metrics';

const ours = ({ folder, port }: Place): readonly string[] => [
  `--kubeconfig=${folder}/${kubeconfigFile}`,
  // Who may work on the cluster is decided before it is started.
  '--leader-elect=false',
  '--bind-address=127.0.0.1',
  `--secure-port=${port}`,
  `--cert-dir=${folder}/certs`,
  `--authorization-always-allow-paths=${alwaysOpen}`,
];

/** `master` would be another address than the kubeconfig's. */
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

/** Why the program would not do what it is for with these; undefined when it would. */
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

/** What the program takes for its own name: the first word of its user agent, so that audit logs say which replica acted. */
export const argv0Of = (service: Service, peer: string): string =>
  `${service === 'controllers' ? 'hangar-controller-manager' : 'hangar-scheduler'}.${peer}`;
