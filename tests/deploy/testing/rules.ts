/** Rules for every pod. */

import type { Data } from './files.ts';

/** Kubernetes' Pod Security Standard «restricted», as far as our pods could break it. */
export function restrictedProblems(spec: Data): string[] {
  const problems: string[] = [];
  const insist = (isRight: boolean, problem: string): void => void (isRight || problems.push(problem));
  const { securityContext: pod = {} } = spec;
  insist(pod.runAsNonRoot === true, 'it may run as root');
  insist(pod.runAsUser > 0, 'no user by number: a name of the image could be root');
  insist(pod.seccompProfile?.type === 'RuntimeDefault', 'any system call');
  for (const name of ['hostNetwork', 'hostPID', 'hostIPC']) insist(!spec[name], name);
  for (const volume of spec.volumes ?? []) insist(!volume.hostPath, `volume ${volume.name} is the node's`);
  for (const { name, securityContext: own = {}, ports = [] } of [...(spec.initContainers ?? []), ...spec.containers]) {
    insist(own.allowPrivilegeEscalation === false, `${name} may gain privileges`);
    insist(JSON.stringify(own.capabilities) === '{"drop":["ALL"]}', `${name} has capabilities`);
    insist(!own.privileged, `${name} is privileged`);
    for (const port of ports) insist(port.hostPort === undefined, `${name} has a port of the node`);
  }
  return problems;
}

/** Contains no registry host, no network address, no path of a machine. */
export const isAsLocalAsWritten = (text: string): boolean =>
  !/\b(docker\.io|gcr\.io|ghcr\.io|quay\.io|registry\.[a-z0-9.-]+|\/(home|root|work|Users)\/)/.test(text) &&
  !/\b(192\.168|172\.(1[6-9]|2\d|3[01]))\.\d/.test(text);
