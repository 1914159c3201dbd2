/** `hangar doctor`: everything that is wrong, and what to do about it. Nothing that it meets keeps it from looking at the rest. */

import { asError, hasCode } from '@hangar/core';
import type { Command } from '../command.ts';
import type { Check, DoctorWorld, Finding } from '../doctor/finding.ts';
import { platformOf } from '../platform.ts';
import { usage } from '../errors.ts';
import { plain, quoted } from '../terminal/plain-text.ts';
import { printedValue } from '../terminal/printed.ts';
import { stylesOf } from '../terminal/styles.ts';
import type { Styler } from '../terminal/styles.ts';

const marks = { good: '✔', doubtful: '!', bad: '✖' } as const;

export const doctor: Command = {
  name: 'doctor',
  summary: 'check the installation, and suggest a fix for each problem',
  description:
    '✔ is fine, ! may become a problem, ✖ is a problem; any ✖ makes the exit code 1. It checks Node, the data directory and its disk, certificates, the port, the server, its clock, kubectl and the operator.',
  args: [],
  options: [
    { name: 'port', value: 'N', meaning: 'also report which process listens on this port of 127.0.0.1' },
    {
      name: 'output',
      short: 'o',
      value: 'FORMAT',
      meaning: 'json or yaml (default: text)',
      oneOf: ['json', 'yaml'],
      completes: ['json', 'yaml'],
    },
  ],
  examples: ['doctor', 'doctor --data-dir DIR', 'doctor --port 6443', 'doctor -o json'],
  isConnected: true,
  async run({ session, given, client }) {
    checkPort(given.text('port'));
    const { checks } = await import('../doctor/checks/index.ts');
    const world: DoctorWorld = { session, given, client, platform: platformOf(session, given) };
    const format = given.text('output') as 'json' | 'yaml' | undefined;
    const style = stylesOf(session.out, session.env);
    const all: Finding[] = [];
    for (const check of checks) {
      for (const finding of await findings(check, world)) {
        all.push(finding);
        if (format === undefined) session.out.write(findingText(finding, style));
      }
    }
    const isWell = all.every(({ state }) => state !== 'bad');
    if (format !== undefined) session.out.write(printedValue(format, { isWell, findings: all.map(asJson) }));
    return isWell ? 0 : 1;
  },
};

function checkPort(text: string | undefined): void {
  if (text === undefined) return;
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535) {
    throw usage(`--port must be a port from 1 to 65535, not ${quoted(text)}`);
  }
}

function findingText({ state, what, next }: Finding, style: Styler): string {
  const lines = (next?.split('\n') ?? []).map((line) => `    ${plain(line)}\n`);
  return `${style(state, marks[state])} ${plain(what)}\n${lines.join('')}`;
}

const asJson = ({ state, what, next }: Finding) => ({ state, what, ...(next === undefined ? {} : { next }) });

async function findings(check: Check, world: DoctorWorld): Promise<readonly Finding[]> {
  try {
    return await check.look(world);
  } catch (error) {
    if (hasCode(error, 'Aborted') && world.session.signal.aborted) throw error;
    return [{ state: 'bad', what: `${check.name}: ${asError(error).message}` }];
  }
}
