/** `hangar projects create NAME --organization ORGANIZATION`: a project, and the wait for its control plane. */

import { hasCode } from '@hangar/core';
import type { Call } from '../../command.ts';
import { waitFor } from '../../control-planes/wait.ts';
import { failed, usage } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { conditionOf, Project } from '../../kinds.ts';
import type { ProjectObject } from '../../kinds.ts';
import { Progress } from '../../terminal/progress.ts';
import { insistOnNewName } from '../common/new-name.ts';
import { timeoutMs } from '../common/timeout.ts';
import { served, stateOf } from './served.ts';

export async function createProject({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[1]!;
  insistOnNewName(name);
  const organization = given.text('organization');
  if (organization === undefined) throw usage('projects create requires --organization NAME');
  const waitMs = timeoutMs(given);
  const client = await connected();
  const { signal, clock } = session;
  const spec = { ownerRef: { kind: 'Organization' as const, name: organization } };
  await served(client.create(Project, { metadata: { name }, spec }, { signal })).catch((error: unknown) => {
    if (!hasCode(error, 'AlreadyExists')) throw error;
    throw failed(`project "${name}" already exists`, { next: `see: ${hangar(`projects get ${name}`)}`, cause: error });
  });
  if (!given.flag('wait')) return session.out.write(`project ${name} is being created\n`);
  const progress = new Progress(session.err, clock);
  let last: ProjectObject | undefined;
  try {
    progress.say(`waiting until project ${name} is ready`);
    const isReady = await waitFor(client, Project, {
      name,
      clock,
      signal,
      timeoutMs: waitMs,
      onBroken: () => progress.say('the server does not answer, retrying'),
      isDone(object) {
        if (!object) throw failed(`project "${name}" was deleted before it became ready`);
        last = object;
        return conditionOf(object, 'Ready')?.status === 'True';
      },
    });
    if (!isReady) {
      throw failed(`timed out after ${waitMs / 1_000} s waiting for project ${name}: ${stateOf(last)}`, {
        next: `see: ${hangar(`projects get ${name}`)}`,
      });
    }
  } finally {
    progress.end();
  }
  session.out.write(`project ${name} is ready; its kubeconfig: ${hangar(`projects kubeconfig ${name}`)}\n`);
}
