/** `hangar __complete -- WORDS…`: for the scripts of `hangar completion`. Prints nothing rather than something wrong, and is never slow. */

import type { Client } from '@hangar/client';
import type { Call, Command, Given } from '../command.ts';
import { offered } from '../completion/candidates.ts';
import { connectionValue } from '../connection.ts';
import { controlPlaneNames } from '../control-planes/find.ts';
import { listHosted } from '../hosted/find.ts';
import { platformConfig } from '../platform.ts';
import { plain } from '../terminal/plain-text.ts';

export const complete: Command = {
  name: '__complete',
  summary: 'print completions for a shell',
  args: [{ name: 'WORD', meaning: 'words of the command line', isOptional: true, isRepeated: true }],
  options: [],
  examples: [],
  isHidden: true,
  async run({ commands, session, given }) {
    const namesBy = (list: Names) => (words: readonly string[]) => namesOf(session, words, list).catch(() => []);
    const world = {
      commands,
      controlPlanes: namesBy(controlPlaneNames),
      hostedControlPlanes: namesBy(async (client, signal) =>
        (await listHosted(client, { signal })).map(({ metadata }) => metadata.name ?? ''),
      ),
    };
    const all = await offered(world, given.args);
    if (typeof all === 'string') return session.out.write(`:${all}\n`);
    for (const { word, meaning } of all) {
      session.out.write(meaning === undefined ? `${word}\n` : `${word}\t${plain(meaning)}\n`);
    }
  },
};

/** Short, because the user waits for it. */
const namesTimeoutMs = 2_000;

type Names = (client: Client, signal: AbortSignal) => Promise<string[]>;

async function namesOf(session: Call['session'], words: readonly string[], list: Names): Promise<string[]> {
  const late = new AbortController();
  const timer = session.clock.after(namesTimeoutMs, () => late.abort());
  const client = await session.connect(await platformConfig(session, connectionIn(words)));
  try {
    return await list(client, AbortSignal.any([session.signal, late.signal]));
  } finally {
    timer.cancel();
    await client.close();
  }
}

/** Reads the connection options of a line that is not finished. */
function connectionIn(words: readonly string[]): Given {
  const text = (name: string): string | undefined => connectionValue(words, name);
  return { args: [], text, flag: () => false, has: (name) => text(name) !== undefined };
}
