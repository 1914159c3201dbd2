/** The session of a test: a fleet in this process, a dedicated folder, recorded outputs. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RestClient } from '@hangar/client';
import type { Client, HttpTransport } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { installCrd, startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { run } from '../run.ts';
import type { Output, Session } from '../session.ts';
import { definitions } from './definitions.ts';

export class KeptOutput implements Output {
  text = '';
  bytes: Uint8Array[] = [];
  terminal: { readonly columns: number; readonly rows: number } | undefined;
  /** Called with all output. */
  onWrite: ((text: string) => void) | undefined;

  get isTty(): boolean {
    return this.terminal !== undefined;
  }

  size(): { readonly columns: number; readonly rows: number } | undefined {
    return this.terminal;
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  write(text: string | Uint8Array): void {
    if (typeof text !== 'string') this.bytes.push(text);
    else {
      this.text += text;
      this.onWrite?.(text);
    }
  }
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface TestWorld extends AsyncDisposable {
  readonly fleet: TestFleet;
  /** Of the management plane. */
  readonly client: Client;
  /** Working directory of commands; contains `.data/admin.kubeconfig`. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  run(...words: string[]): Promise<Ran>;
  /** Runs in a session with these changes. */
  runIn(changes: Partial<Session>, ...words: string[]): Promise<Ran>;
}

export interface TestWorldOptions {
  /** As after `hangar up --bare`. */
  readonly isBare?: boolean;
  readonly transport?: (own: HttpTransport) => HttpTransport;
}

/** Never connected to: the session's own `connect` leads to the fleet. */
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: hangar, cluster: {server: 'https://127.0.0.1:6443'}}]
users: [{name: admin, user: {token: none}}]
contexts: [{name: hangar, context: {cluster: hangar, user: admin}}]
current-context: hangar
`;

export async function openTestWorld({ isBare = false, transport }: TestWorldOptions = {}): Promise<TestWorld> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-cli-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, '.data'));
  await writeFile(join(folder, '.data', 'admin.kubeconfig'), kubeconfig, { mode: 0o600 });
  const fleet = opened.use(await startTestFleet({ clusters: [] }));
  if (!isBare) for (const definition of definitions) await installCrd(fleet.client, definition);
  const env: NodeJS.ProcessEnv = { PATH: process.env['PATH'] };
  const runIn = async (changes: Partial<Session>, ...words: string[]): Promise<Ran> => {
    const [out, err] = [new KeptOutput(), new KeptOutput()];
    const session: Session = {
      out,
      err,
      env,
      homeFolder: join(folder, 'home'),
      folder,
      clock: systemClock,
      signal: new AbortController().signal,
      program: 'hangar',
      runProgram: () => Promise.reject(new Error('no program was expected')),
      connect: async () => new RestClient((transport ?? ((own) => own))(fleet.transportOf())),
      ...changes,
    };
    const code = await run(session, words);
    return { code, out: (session.out as KeptOutput).text, err: (session.err as KeptOutput).text };
  };
  const closing = opened.move();
  return {
    fleet,
    client: fleet.client,
    folder,
    env,
    run: (...words) => runIn({}, ...words),
    runIn,
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
