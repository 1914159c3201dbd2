/** `hangar projects list`: Projects as a table or as data. */

import type { Call } from '../../command.ts';
import { usage } from '../../errors.ts';
import { ageOf } from '../../control-planes/table.ts';
import { conditionOf, Project } from '../../kinds.ts';
import type { ProjectObject } from '../../kinds.ts';
import { hangar } from '../../hints.ts';
import { formats, printed } from '../../terminal/printed.ts';
import type { Format } from '../../terminal/printed.ts';
import { stylesOf } from '../../terminal/styles.ts';
import { table } from '../../terminal/table.ts';
import { served, stateOf } from './served.ts';

export async function listProjects({ session, given, client: connected }: Call): Promise<void> {
  const format = formatOf(given.text('output'));
  const client = await connected();
  const { signal } = session;
  const [, name] = given.args;
  const organization = given.text('organization');
  const found =
    name === undefined
      ? (await served(client.list(Project, { signal }))).items
      : [await served(client.get(Project, { name }, { signal }), name)];
  const projects = found.filter(({ spec }) => organization === undefined || spec?.ownerRef?.name === organization);
  if (format !== undefined && format !== 'wide') {
    const hasManagedFields = given.flag('show-managed-fields');
    return session.out.write(printed(format, projects, { isList: name === undefined, hasManagedFields }));
  }
  if (projects.length === 0) {
    const next = hangar('projects create NAME --organization ORGANIZATION');
    return session.err.write(`there is no project; create one: ${next}\n`);
  }
  const now = session.clock.now();
  const rows = projects.map((one) => rowOf(one, now));
  const style = stylesOf(session.out, session.env);
  session.out.write(table(['NAME', 'ORGANIZATION', 'READY', 'AGE', 'MESSAGE'], rows, { style }));
}

/** Throws `Usage`. */
function formatOf(text: string | undefined): Format | undefined {
  const found = formats.find((one) => one === text);
  if (text !== undefined && !found) throw usage(`--output must be one of: ${formats.join(', ')}`);
  return found;
}

function rowOf(project: ProjectObject, now: number): string[] {
  const { metadata, spec } = project;
  const ready = conditionOf(project, 'Ready')?.status ?? 'Unknown';
  const message = ready === 'True' ? '' : stateOf(project);
  return [metadata.name!, spec?.ownerRef?.name ?? '-', ready, ageOf(metadata.creationTimestamp, now), message];
}
