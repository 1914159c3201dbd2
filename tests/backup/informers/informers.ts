/**
 * Informers of a real client-go program beside a test: they follow several kinds of a control plane, and compare their caches with the
 * server on request. The program fails when a resourceVersion of an object appears twice with different contents.
 *
 *     await using informers = await startInformers(kubeconfig);
 *     const { objects, relists } = await informers.compare();
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { ownProgram } from '../../../tools/own-program.ts';

export interface Compared {
  readonly objects: number;
  /** How often informers filled their caches again since they were started. */
  readonly relists: number;
}

export interface Informers extends AsyncDisposable {
  /**
   * Resolves when all caches are equal to the server. Rejects with the first difference after five minutes: client-go waits up to a minute
   * before it connects again.
   */
  compare(): Promise<Compared>;
  /**
   * Waits for the events of all versions in a file: lines of `RESOURCE NAMESPACE/NAME UID RESOURCEVERSION`. Returns the number of those that
   * did not arrive within five minutes. An informer that filled its cache again has not seen the versions in between.
   */
  missed(file: string): Promise<number>;
}

/** `watchList`: informers start with a stream of initial events; otherwise they list first. `limit`: time limit of a comparison. */
export async function startInformers(kubeconfig: string, { watchList = true, limit = '5m' } = {}): Promise<Informers> {
  const program = await ownProgram({ name: 'backup-informers', folder: import.meta.dirname }, console.log);
  const child = spawn(program, [`--kubeconfig=${kubeconfig}`, `--limit=${limit}`], {
    env: { ...process.env, KUBE_FEATURE_WatchListClient: String(watchList) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const closed = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (!done) return value;
    await closed;
    throw new Error(`the informers ended: ${errors.slice(-2_000)}`);
  };
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await closed;
  };
  try {
    assert.equal(await line(), 'synced');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async compare() {
      child.stdin.write('compare\n');
      const answer = await line();
      const found = /^same (\d+) (\d+)$/.exec(answer);
      assert.ok(found, answer);
      return { objects: Number(found[1]), relists: Number(found[2]) };
    },
    async missed(file) {
      child.stdin.write(`missed ${file}\n`);
      const answer = await line();
      const found = /^missed (\d+)/.exec(answer);
      assert.ok(found, answer);
      if (found[1] !== '0') console.log(answer);
      return Number(found[1]);
    },
    [Symbol.asyncDispose]: stop,
  };
}
