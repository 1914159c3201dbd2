/** `hangar get`: lists control planes, or the data that deleted ones left. */

import type { Client } from '@hangar/client';
import { findControlPlane, withDefinitions } from '../control-planes/find.ts';
import { followAll } from '../control-planes/follow.ts';
import { listRetained, retainedTable } from '../control-planes/retained.ts';
import { PlaneTable } from '../control-planes/table.ts';
import type { Call, Command } from '../command.ts';
import { usage } from '../errors.ts';
import { hangar } from '../hints.ts';
import { ControlPlane } from '../kinds.ts';
import type { ControlPlaneObject } from '../kinds.ts';
import { managedFieldsOption, outputOption, printed } from '../terminal/printed.ts';
import type { Format } from '../terminal/printed.ts';
import { stylesOf } from '../terminal/styles.ts';

export const get: Command = {
  name: 'get',
  aliases: ['list', 'ls'],
  summary: 'list control planes',
  description:
    'With --retained it lists the data of control planes that were deleted with the policy Retain. "hangar create PATH", with "--mode dedicated" for data of that mode, uses it again, "hangar purge PATH" destroys it.',
  args: [
    {
      name: 'NAME',
      meaning: 'names of control planes (default: all)',
      isOptional: true,
      isRepeated: true,
      completes: 'control-plane',
    },
  ],
  options: [
    outputOption,
    { name: 'selector', short: 'l', value: 'SELECTOR', meaning: 'label selector, such as team=red' },
    { name: 'watch', short: 'w', meaning: 'watch for changes until Ctrl-C' },
    { name: 'retained', meaning: 'list retained data instead: path, size, age' },
    managedFieldsOption,
  ],
  examples: ['get', 'get demo -o yaml', 'get -l team=red', 'get -w', 'get --retained'],
  isConnected: true,
  async run(call) {
    checkTogether(call);
    const client = await call.client();
    if (call.given.flag('retained')) return getRetained(call, client);
    return call.given.flag('watch') ? watchPlanes(call, client) : getPlanes(call, client);
  },
};

function checkTogether({ given }: Call): void {
  if (given.args.length > 0 && given.has('selector')) throw usage('NAME and --selector cannot be used together');
  for (const option of ['watch', 'selector']) {
    if (given.flag('retained') && given.has(option)) throw usage(`--retained and --${option} cannot be used together`);
  }
}

async function getPlanes(call: Call, client: Client): Promise<void> {
  const { session, given } = call;
  const { signal } = session;
  const names = [...new Set(given.args)];
  const labelSelector = given.text('selector');
  const planes: readonly ControlPlaneObject[] =
    names.length === 0
      ? (await withDefinitions(client.list(ControlPlane, { labelSelector, signal }))).items
      : await Promise.all(names.map((name) => findControlPlane(client, name, signal)));
  if (planes.length > 0 || !isTable(given.text('output'))) {
    return session.out.write(printer(call, names.length !== 1)(planes));
  }
  session.err.write(
    labelSelector === undefined
      ? `there is no control plane yet: ${hangar('create NAME')}\n`
      : 'no control plane has these labels\n',
  );
}

async function watchPlanes(call: Call, client: Client): Promise<void> {
  const { session, given } = call;
  const names = new Set(given.args);
  for (const name of names) await findControlPlane(client, name, session.signal);
  const print = printer(call, false);
  await followAll(client, ControlPlane, {
    clock: session.clock,
    signal: session.signal,
    labelSelector: given.text('selector'),
    onBroken: () => session.err.write('the connection broke, retrying\n'),
    onObjects: (objects) => {
      const wanted = objects.filter(({ metadata }) => names.size === 0 || names.has(metadata.name!));
      if (wanted.length === 0) return;
      // A List cannot be streamed: json and yaml get one document for each change, as in kubectl.
      if (isTable(given.text('output'))) session.out.write(print(wanted));
      else for (const object of wanted) session.out.write(print([object]));
    },
  });
}

const isTable = (format: string | undefined): boolean => format === undefined || format === 'wide';

/** Returns a function that prints control planes. It can be called repeatedly. */
function printer({ session, given }: Call, isList: boolean): (planes: readonly ControlPlaneObject[]) => string {
  const format = given.text('output') as Format | undefined;
  if (format !== undefined && format !== 'wide') {
    const hasManagedFields = given.flag('show-managed-fields');
    return (planes) => printed(format, planes, { isList, hasManagedFields });
  }
  const table = new PlaneTable({
    isWide: format === 'wide',
    now: () => session.clock.now(),
    style: stylesOf(session.out, session.env),
  });
  return (planes) => table.text(planes);
}

async function getRetained({ session, given }: Call, client: Client): Promise<void> {
  const { out, err, signal } = session;
  const names = [...new Set(given.args)];
  const items = await listRetained(client, names, signal);
  const format = given.text('output') as Format | undefined;
  if (format !== undefined && format !== 'wide') out.write(printed(format, items, { isList: names.length !== 1 }));
  else if (items.length === 0) err.write('no data is retained\n');
  else out.write(retainedTable(items, { now: session.clock.now(), style: stylesOf(out, session.env) }));
}
