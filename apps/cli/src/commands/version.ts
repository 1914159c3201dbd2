/** `hangar version`: prints the versions of this program and of the server. */

import type { Command } from '../command.ts';
import { explain } from '../explain.ts';
import { plain } from '../terminal/plain-text.ts';
import { printedValue } from '../terminal/printed.ts';
import { version as ownVersion } from '../version.ts';
import { serverVersion } from './common/server-version.ts';

export const version: Command = {
  name: 'version',
  summary: 'print the versions of this program and of the server',
  args: [],
  options: [
    { name: 'client', meaning: 'print only the version of this program' },
    {
      name: 'output',
      short: 'o',
      value: 'FORMAT',
      meaning: 'json or yaml',
      oneOf: ['json', 'yaml'],
      completes: ['json', 'yaml'],
    },
  ],
  examples: ['version', 'version --client'],
  isConnected: true,
  async run({ session, given, client }) {
    const own = { version: ownVersion(), node: process.version };
    const server = given.flag('client')
      ? undefined
      : await found(async () => serverVersion(await client(), session.signal));
    const format = given.text('output') as 'json' | 'yaml' | undefined;
    if (format !== undefined) {
      const value = { client: own, ...(server && 'gitVersion' in server ? { server } : {}) };
      return session.out.write(printedValue(format, value as never));
    }
    session.out.write(`Client: hangar ${own.version} (Node ${own.node})\n`);
    if (!server) return;
    const text = 'problem' in server ? `none (${server.problem})` : `Kubernetes ${server.gitVersion}`;
    session.out.write(plain(`Server: ${text}`) + '\n');
  },
};

async function found<T extends object>(ask: () => Promise<T>): Promise<T | { readonly problem: string }> {
  try {
    return await ask();
  } catch (error) {
    const { message } = explain(error);
    if (message === undefined) throw error;
    return { problem: message };
  }
}
