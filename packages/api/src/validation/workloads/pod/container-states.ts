/** A container that ended runs again only when a policy lets it. */

import { child, forbidden, index } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { List } from '../base/checks.ts';
import type { Container, PodSpec } from '../types/pod.ts';
import type { ContainerStatus, PodStatus } from '../types/status.ts';

export function checkStateTransitions(
  errors: FieldError[],
  path: string,
  { status, before, spec }: { readonly status: PodStatus; readonly before: PodStatus; readonly spec: PodSpec },
): void {
  if (!canRestartAll(spec)) {
    const check = (
      kind: 'containerStatuses' | 'initContainerStatuses',
      containers: List<Container> | undefined,
    ): void =>
      checkStates(errors, child(path, kind), status[kind], before[kind], (name, exitCode) => {
        const container = containers?.find((one) => (one.name ?? '') === name);
        return container !== undefined && restarts(container, spec, exitCode);
      });
    check('containerStatuses', spec.containers);
    check('initContainerStatuses', spec.initContainers);
  }
  const kind = 'ephemeralContainerStatuses';
  checkStates(errors, child(path, kind), status[kind], before[kind], () => false);
}

function checkStates(
  errors: FieldError[],
  path: string,
  statuses: List<ContainerStatus> | undefined,
  old: List<ContainerStatus> | undefined,
  mayRestart: (name: string, exitCode: number) => boolean,
): void {
  for (const [i, { name = '', state }] of (old ?? []).entries()) {
    if (!state?.terminated) continue;
    const now = (statuses ?? []).find((one) => (one.name ?? '') === name);
    if (!now || now.state?.terminated || mayRestart(name, state.terminated.exitCode ?? 0)) continue;
    errors.push(forbidden(child(index(path, i), 'state'), 'may not be transitioned to non-terminated state'));
  }
}

const canRestartAll = ({ containers, initContainers }: PodSpec): boolean =>
  [...(containers ?? []), ...(initContainers ?? [])].some(({ restartPolicyRules }) =>
    (restartPolicyRules ?? []).some(({ action }) => action === 'RestartAllContainers'),
  );

/** The container's own rules, then its policy, then the pod's. */
function restarts(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (container.restartPolicy !== undefined) {
    const rule = (container.restartPolicyRules ?? []).find(({ exitCodes }) => {
      const isListed = (exitCodes?.values ?? []).includes(exitCode);
      return (
        exitCodes !== undefined &&
        (exitCodes.operator === 'In' ? isListed : exitCodes.operator === 'NotIn' && !isListed)
      );
    });
    if (rule?.action === 'Restart' || rule?.action === 'RestartAllContainers') return true;
  }
  const policy = container.restartPolicy ?? spec.restartPolicy;
  if (policy === 'Never') return false;
  return policy === 'OnFailure' ? exitCode !== 0 : true;
}
