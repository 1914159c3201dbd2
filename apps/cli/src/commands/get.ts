/** `hangar get`: control planes as a table, or as objects. */

import { findControlPlane, withDefinitions } from '../control-planes/find.ts';
import { planeTable } from '../control-planes/table.ts';
import type { Command } from '../command.ts';
import { ControlPlane } from '../kinds.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import { outputOption, printed } from '../terminal/printed.ts';
import type { Format } from '../terminal/printed.ts';

export const get: Command = {
  name: 'get',
  summary: 'list control planes',
  args: [
    {
      name: 'NAME',
      meaning: 'only these',
      isOptional: true,
      isRepeated: true,
      completes: 'control-plane',
    },
  ],
  options: [outputOption],
  examples: ['get', 'get demo -o yaml', 'get -o name'],
  isConnected: true,
  async run({ session, given, client: connected }) {
    const client = await connected();
    const { signal, clock, out, err } = session;
    const names = [...new Set(given.args)];
    const planes: ControlPlaneObject[] =
      names.length === 0
        ? (await withDefinitions(client.list(ControlPlane, { signal }))).items
        : await Promise.all(names.map((name) => findControlPlane(client, name, signal)));
    const format = given.text('output') as Format | undefined;
    if (format !== undefined && format !== 'wide') {
      out.write(printed(format, planes, names.length !== 1));
    } else if (planes.length > 0) {
      out.write(planeTable(planes, { isWide: format === 'wide', now: clock.now() }));
    } else {
      err.write(`there is no control plane yet: ${session.program} create NAME\n`);
    }
  },
};
