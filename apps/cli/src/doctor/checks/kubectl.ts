/** Checks that kubectl is installed, and that its version works with the server: 1.32 or newer, at most one minor version ahead. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hasCode } from '@hangar/core';
import { plain } from '../../terminal/plain-text.ts';
import { doubtful, good } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';

const run = promisify(execFile);
const timeoutMs = 10_000;
/** The README is tested with it. */
const oldestMinor = 32;

export const kubectl: Check = {
  name: 'kubectl',
  async look({ session: { env, signal }, serverVersion }): Promise<Finding[]> {
    let version: string;
    try {
      const { stdout } = await run('kubectl', ['version', '--client', '--output', 'json'], {
        env,
        signal,
        timeout: timeoutMs,
        maxBuffer: 1024 * 1024,
      });
      version = (JSON.parse(stdout) as { clientVersion: { gitVersion: string } }).clientVersion.gitVersion;
    } catch (error) {
      const what = hasCode(error, 'ENOENT') ? 'kubectl: not found' : 'kubectl: did not report its version';
      return [doubtful(what, 'install it: https://kubernetes.io/docs/tasks/tools/')];
    }
    const [own, theirs] = [minorOf(version), minorOf(serverVersion)];
    const text = `kubectl: ${plain(version)}`;
    if (own === undefined || theirs === undefined || (own >= oldestMinor && own <= theirs + 1)) return [good(text)];
    return [
      doubtful(`${text}, the server is ${plain(serverVersion!)}`, `use kubectl 1.${oldestMinor} to 1.${theirs + 1}`),
    ];
  },
};

const minorOf = (version: string | undefined): number | undefined => {
  const minor = /^v?\d+\.(\d+)/.exec(version ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
};
