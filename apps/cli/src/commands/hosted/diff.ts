/** `hangar hosted diff` and `render`: the objects of HostedControlPlanes in the newest rendering of this release. */

import { dumpYaml } from '@hangar/api/yaml';
import type { JsonObject } from '@hangar/api/json';
import type { ApiObject, Client } from '@hangar/client';
import type { HostedControlPlane, ObjectChange } from '@hangar/hosted-operator';
import type { Call } from '../../command.ts';
import { usage } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { findHosted, fullName, listHosted } from '../../hosted/find.ts';
import type { HostedControlPlaneObject } from '../../kinds.ts';
import { plainYaml, unsafeInYaml } from '../../terminal/plain-text.ts';
import { unifiedDiff } from '../../terminal/unified-diff.ts';

/** Resolves with 1 if an object differs. */
export async function diffHosted(call: Call): Promise<number> {
  const { session } = call;
  const client = await call.client();
  const planes = await chosen(call, client);
  const { previewChanges } = await import('@hangar/hosted-operator');
  let isDifferent = false;
  for (const plane of planes) {
    const changes = await previewChanges(client, plane as unknown as HostedControlPlane, session);
    isDifferent ||= changes.length > 0;
    for (const change of changes) session.out.write(changeText(change));
    session.err.write(`${fullName(plane)}: changed objects: ${changes.length}\n`);
  }
  return isDifferent ? 1 : 0;
}

export async function renderHosted(call: Call): Promise<void> {
  const client = await call.client();
  const [plane] = await chosen(call, client);
  const { previewObjects } = await import('@hangar/hosted-operator');
  const rendered = await previewObjects(client, plane as unknown as HostedControlPlane, call.session);
  call.session.out.write(rendered.map(({ object }) => textOf(object)).join('---\n'));
}

async function chosen({ given, session }: Call, client: Client): Promise<readonly HostedControlPlaneObject[]> {
  const [, name] = given.args;
  const query = { namespace: given.text('namespace'), signal: session.signal };
  if (given.flag('all') !== (name === undefined)) {
    throw usage('NAME or --all is required, and not both', `see: ${hangar('hosted --help')}`);
  }
  return name === undefined ? listHosted(client, query) : [await findHosted(client, name, query)];
}

function changeText({ object, before, after, refusal }: ObjectChange): string {
  if (refusal !== undefined) return `# ${object}: the server refuses the change: ${refusal.replaceAll('\n', ' ')}\n`;
  return unifiedDiff({
    before: before ? textOf(before) : '',
    after: textOf(after!),
    beforeName: before ? object : '/dev/null',
    afterName: object,
  });
}

const textOf = (object: ApiObject): string =>
  plainYaml(dumpYaml(object as unknown as JsonObject, { doubleQuoted: unsafeInYaml }));
