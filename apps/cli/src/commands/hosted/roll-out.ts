/** `hangar hosted roll-out`: gives hosted control planes the newest rendering, in waves. All state is in the objects, so it can be repeated. */

import type { Client } from '@hangar/client';
import { shellWord } from '@hangar/core/command-line';
import { newestRendering, previewChanges, renderings } from '@hangar/hosted-operator';
import type { HostedControlPlane } from '@hangar/hosted-operator';
import type { Call } from '../../command.ts';
import { CliError, failed, usage } from '../../errors.ts';
import { hangar } from '../../hints.ts';
import { findHosted, fullName, listHosted } from '../../hosted/find.ts';
import { parseWaveSize, planRollOut, renderingOf } from '../../hosted/roll-out-plan.ts';
import type { RollOutPlan } from '../../hosted/roll-out-plan.ts';
import { rollOutWave } from '../../hosted/roll-out-wave.ts';
import type { HostedControlPlaneObject } from '../../kinds.ts';
import { plain, quoted } from '../../terminal/plain-text.ts';
import { timeoutMs } from '../common/timeout.ts';

const defaultWaveSize = '10%';
const defaultTimeoutMs = 600_000;

/** Resolves with 1 if a control plane that should change was skipped. */
export async function rollOutHosted(call: Call): Promise<number> {
  const { session, given } = call;
  const waveSize = parseWaveSize(given.text('wave-size') ?? defaultWaveSize);
  const waitMs = timeoutMs(given, defaultTimeoutMs);
  const client = await call.client();
  const { planes, isNamed } = await chosen(call, client);
  const to = versionOf(call);
  const plan = planRollOut(planes, { to, waveSize, isNamed });
  for (const { plane, why } of plan.skipped) session.err.write(`${fullName(plane)}: skipped: ${plain(why)}\n`);
  const code = plan.skipped.some(({ isFault }) => isFault) ? 1 : 0;
  const count = plan.waves.flat().length;
  if (count === 0) {
    session.err.write(`no hosted control plane changes: rendering ${to}\n`);
    return code;
  }
  session.err.write(`rendering ${to}: hosted control planes: ${count}, waves: ${plan.waves.length}\n`);
  const isDryRun = given.flag('dry-run');
  for (const [at, wave] of plan.waves.entries()) {
    session.err.write(`wave ${at + 1} of ${plan.waves.length}\n`);
    await preview(call, client, wave, to);
    if (isDryRun) continue;
    if (at === 0 && !given.flag('yes')) await confirm(call, plan, to);
    await rollOutWave(wave, { client, session, to, timeoutMs: waitMs, continuation: continuationOf(call) });
  }
  return code;
}

interface Chosen {
  readonly planes: readonly HostedControlPlaneObject[];
  readonly isNamed: boolean;
}

async function chosen({ given, session }: Call, client: Client): Promise<Chosen> {
  const [, ...names] = given.args;
  const labelSelector = given.text('selector');
  const ways = [names.length > 0, given.flag('all'), labelSelector !== undefined].filter(Boolean);
  if (ways.length !== 1) {
    throw usage('one of NAME, --all and --selector is required', `see: ${hangar('hosted --help')}`);
  }
  const query = { namespace: given.text('namespace'), labelSelector, signal: session.signal };
  if (names.length === 0) return { planes: await listHosted(client, query), isNamed: false };
  const planes = [];
  for (const name of new Set(names)) planes.push(await findHosted(client, name, query));
  return { planes, isNamed: true };
}

function versionOf({ given }: Call): string {
  const to = given.text('to') ?? newestRendering;
  if (renderings.has(to)) return to;
  throw usage(`--to ${quoted(to)} is not a known rendering`, `renderings: ${[...renderings.keys()].join(', ')}`);
}

/** Prints the number of changed objects. Rejects if the server refuses a change, before anything of the wave changes. */
async function preview(
  { session }: Call,
  client: Client,
  wave: readonly HostedControlPlaneObject[],
  to: string,
): Promise<void> {
  for (const plane of wave) {
    const options = { signal: session.signal, rendering: to };
    const changes = await previewChanges(client, plane as unknown as HostedControlPlane, options);
    session.err.write(`${fullName(plane)}: rendering ${renderingOf(plane)}, changed objects: ${changes.length}\n`);
    const refused = changes.find(({ refusal }) => refusal !== undefined);
    if (!refused) continue;
    throw failed(`${fullName(plane)} cannot get rendering ${to}: the server refuses the change of ${refused.object}`, {
      next: `${plain(refused.refusal!)}\nsee: ${hangar(`hosted diff ${plane.metadata.name} -n ${plane.metadata.namespace}`)}`,
    });
  }
}

async function confirm({ session }: Call, { waves }: RollOutPlan, to: string): Promise<void> {
  if (!session.ask) {
    throw new CliError('Declined', 'nothing was changed: there is no terminal for the confirmation', {
      next: 'to roll out without confirmation, add --yes',
    });
  }
  const count = waves.flat().length;
  const answer = await session.ask(
    `Rendering ${to} replaces pods of ${count} hosted control planes. Type yes to confirm: `,
  );
  if (answer.trim() !== 'yes') throw new CliError('Declined', 'nothing was changed');
}

/** The same command line: control planes that are complete are not changed again. */
function continuationOf({ given }: Call): string {
  const words = ['hosted', ...given.args];
  for (const name of ['namespace', 'selector', 'to', 'wave-size', 'timeout']) {
    const value = given.text(name);
    if (value !== undefined) words.push(`--${name}=${value}`);
  }
  return hangar([...words, ...(given.flag('all') ? ['--all'] : [])].map(shellWord).join(' '));
}
