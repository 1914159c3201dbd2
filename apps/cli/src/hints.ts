/**
 * Commands inside messages, as the user must type them. Messages are made where neither the program's name nor the connection options are
 * known. So a command is marked there and completed when the message is written:
 *
 *     `see: ${hangar('describe demo')}`  →  see: npx hangar describe demo --data-dir /srv/data
 */

import { shellWord } from '@hangar/core/command-line';
import { connectionOptions, connectionValue } from './connection.ts';
import type { Output, Session } from './session.ts';

/** Private use: terminals show such characters, so they need not be escaped, and nothing else in a message has them. */
const [begin, end] = ['\ue000', '\ue001'];
const marked = new RegExp(`${begin}([^${end}]*)${end}`, 'g');

/** Marks a command of this program, without the program's name. */
export const hangar = (command: string): string => `${begin}${command}${end}`;

/** Returns the session whose outputs complete marked commands. `words`: the command line, with its connection options. */
export function completingHints(session: Session, words: readonly string[]): Session {
  const { program } = session;
  const complete = (text: string): string =>
    text.includes(begin)
      ? text.replaceAll(marked, (_, command: string) => `${program} ${command}${connectionOf(command, words)}`)
      : text;
  const completed = (output: Output): Output => ({
    get isTty() {
      return output.isTty;
    },
    write: (text) => output.write(typeof text === 'string' ? complete(text) : text),
    drained: () => output.drained(),
    size: () => output.size(),
  });
  return { ...session, out: completed(session.out), err: completed(session.err) };
}

const unconnected: ReadonlySet<string> = new Set(['help', 'completion', 'pki']);

function connectionOf(command: string, words: readonly string[]): string {
  const [name = ''] = command.split(' ');
  if (unconnected.has(name) || command.endsWith('--help')) return '';
  return connectionOptions
    .filter((one) => name !== 'up' || one.name === 'data-dir')
    .map((one) => ({ option: one.name, value: connectionValue(words, one.name) }))
    .filter(({ value }) => value !== undefined)
    .map(({ option, value }) => ` --${option} ${shellWord(value!)}`)
    .join('');
}
