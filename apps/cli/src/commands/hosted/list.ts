/** `hangar hosted list`: HostedControlPlanes as a table or as data. */

import type { Call } from '../../command.ts';
import { findHosted, listHosted } from '../../hosted/find.ts';
import { hostedTable } from '../../hosted/table.ts';
import type { Format } from '../../terminal/printed.ts';
import { printed } from '../../terminal/printed.ts';
import { stylesOf } from '../../terminal/styles.ts';

export async function listHostedControlPlanes({ session, given, client: connected }: Call): Promise<void> {
  const client = await connected();
  const { signal } = session;
  const [, name] = given.args;
  const query = { namespace: given.text('namespace'), labelSelector: given.text('selector'), signal };
  const planes = name === undefined ? await listHosted(client, query) : [await findHosted(client, name, query)];
  const format = given.text('output') as Format | undefined;
  if (format !== undefined && format !== 'wide') {
    const hasManagedFields = given.flag('show-managed-fields');
    return session.out.write(printed(format, planes, { isList: name === undefined, hasManagedFields }));
  }
  if (planes.length === 0) return session.err.write('there is no hosted control plane: apply a HostedControlPlane\n');
  const style = stylesOf(session.out, session.env);
  session.out.write(hostedTable(planes, { isWide: format === 'wide', nowMs: session.clock.now(), style }));
}
