/** Detects that a member does not work with a new version of etcd. */

import type { Pod } from '@hangar/client/kinds/core-v1';

/** A member that replays a long log needs some time. */
export const workingWithinMs = 300_000;
const restartsMax = 3;

/** Returns why a pod with this tag does not work, after enough time or enough crashes. */
export function upgradeTrouble(pods: readonly Pod[], tag: string, nowMs: number): string | undefined {
  for (const { metadata, spec, status } of pods) {
    if (imageTag(spec?.containers[0]?.image) !== tag) continue;
    if (status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')) continue;
    const [container] = status?.containerStatuses ?? [];
    const { reason, message = '' } = container?.state?.waiting ?? {};
    const name = `Pod ${JSON.stringify(metadata.name)}`;
    if (reason === 'CrashLoopBackOff' && container!.restartCount >= restartsMax) {
      const last = container!.lastState?.terminated?.message?.trim().split('\n').at(-1);
      return `${name} has exited ${container!.restartCount} times${last ? `: ${last}` : ''}`;
    }
    const ageMs = nowMs - Date.parse(metadata.creationTimestamp ?? '');
    if (ageMs < workingWithinMs) continue;
    return `${name} is not ready after ${workingWithinMs / 60_000} minutes${reason ? `: ${reason} ${message}`.trimEnd() : ''}`;
  }
  return undefined;
}

/** Returns the part of an image after the repository: a tag, or a digest. */
export function imageTag(image = ''): string {
  const at = image.lastIndexOf('@');
  return at === -1 ? image.slice(image.lastIndexOf(':') + 1) : image.slice(at + 1);
}
