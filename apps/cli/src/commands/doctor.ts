/** `hangar doctor`: everything that is wrong, and what to do about it. Nothing that it meets keeps it from looking at the rest. */

import { asError, hasCode } from '@hangar/core';
import type { Command } from '../command.ts';
import type { Check, DoctorWorld, Finding } from '../doctor/finding.ts';
import { platformOf } from '../platform.ts';
import { plain } from '../terminal/plain-text.ts';

const marks = { good: '✔', doubtful: '!', bad: '✖' } as const;

export const doctor: Command = {
  name: 'doctor',
  summary: 'look for what is wrong, and say what to do about it',
  description:
    '✔ is well, ! should be known, ✖ does not work: then the exit code is 1. Looked at: Node, the data directory and its disk, certificates, the port, the server, its clock, kubectl, the operator.',
  args: [],
  options: [],
  examples: ['doctor', 'doctor --data-dir DIR'],
  isConnected: true,
  async run({ session, given, client }) {
    const { checks } = await import('../doctor/checks/index.ts');
    const world: DoctorWorld = { session, given, client, platform: platformOf(session, given) };
    let isWell = true;
    for (const check of checks) {
      for (const { state, what, next } of await findings(check, world)) {
        isWell &&= state !== 'bad';
        session.out.write(`${marks[state]} ${plain(what)}\n`);
        if (next !== undefined)
          session.out.write(
            `${next
              .split('\n')
              .map((line) => `    ${plain(line)}`)
              .join('\n')}\n`,
          );
      }
    }
    return isWell ? 0 : 1;
  },
};

async function findings(check: Check, world: DoctorWorld): Promise<readonly Finding[]> {
  try {
    return await check.look(world);
  } catch (error) {
    if (hasCode(error, 'Aborted') && world.session.signal.aborted) throw error;
    return [{ state: 'bad', what: `${check.name}: ${asError(error).message}` }];
  }
}
