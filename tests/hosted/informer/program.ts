/** A program with an informer of client-go, whose cache can be read. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ownProgram } from '../../../tools/own-program.ts';

export interface InformerProgram extends AsyncDisposable {
  /** Returns the resourceVersions in the cache by namespace and name. */
  content(): Promise<Readonly<Record<string, string>>>;
}

/** Resolves when the cache has synced. */
export async function startInformer(kubeconfig: string): Promise<InformerProgram> {
  const program = await ownProgram({ name: 'hosted-informer', folder: import.meta.dirname }, console.error);
  const child = spawn(program, [`--kubeconfig=${kubeconfig}`], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const informer: InformerProgram = {
    async content() {
      child.stdin.write('\n');
      const { value, done } = await lines.next();
      if (done) throw new Error('the informer has exited');
      return JSON.parse(value) as Record<string, string>;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
  await informer.content();
  return informer;
}
