/** `hangar projects delete NAME`: deletes a project including all data, and names the objects that block the deletion. */

import type { Call } from '../../command.ts';
import { waitFor } from '../../control-planes/wait.ts';
import { CliError, failed } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { Project } from '../../kinds.ts';
import type { ProjectObject } from '../../kinds.ts';
import type { Session } from '../../session.ts';
import { quoted } from '../../terminal/plain-text.ts';
import { Progress } from '../../terminal/progress.ts';
import { timeoutMs } from '../common/timeout.ts';
import { served, stateOf } from './served.ts';

export async function deleteProject({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[1]!;
  const waitMs = timeoutMs(given);
  const client = await connected();
  const { signal, clock } = session;
  const project = await served(client.get(Project, { name }, { signal }), name);
  if (!given.flag('yes')) await confirm(session.ask, name);
  const uid = project.metadata.uid!;
  // Only this object: another one with the same name may have been created during the confirmation.
  await client.delete(Project, { name }, { signal, preconditions: { uid } });
  if (!given.flag('wait')) return session.out.write(`project ${name} is being deleted, including all data\n`);
  const progress = new Progress(session.err, clock);
  let last: ProjectObject | undefined;
  try {
    progress.say(`waiting until project ${name} is deleted`);
    const isGone = await waitFor(client, Project, {
      name,
      clock,
      signal,
      timeoutMs: waitMs,
      onBroken: () => progress.say('the server does not answer, retrying'),
      isDone: (object) => (last = object)?.metadata.uid !== uid,
    });
    if (!isGone) {
      throw failed(
        `timed out after ${waitMs / 1_000} s waiting for the deletion of project ${name}: ${stateOf(last)}`,
        {
          next: `see: ${hangar(`projects get ${name}`)}`,
        },
      );
    }
  } finally {
    progress.end();
  }
  session.out.write(`project ${name} deleted, including all data\n`);
}

async function confirm(ask: Session['ask'], name: string): Promise<void> {
  if (!ask) {
    const message = `project ${quoted(name)} was not deleted: its data would be destroyed, and there is no terminal for the confirmation`;
    throw new CliError('Declined', message, { next: 'to destroy it without confirmation, add --yes' });
  }
  const answer = await ask(`Everything in project ${name} will be destroyed. Type its name to confirm: `);
  if (answer.trim() !== name) throw new CliError('Declined', 'nothing was deleted');
}
