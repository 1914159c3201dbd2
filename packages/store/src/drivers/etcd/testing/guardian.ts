/**
 * Cleans up when this process dies without a chance to do so itself (`kill -9`, a test runner's time limit): a small
 * shell that waits for its standard input to end, which only our death or `dismiss` does.
 */

import { spawn } from 'node:child_process';

const script = `
trap '' INT TERM HUP
read -r _
for file in "$1"/*.pid; do
  [ -f "$file" ] && kill -9 "$(cat "$file")" 2>/dev/null
done
rm -rf "$1"
`;

export interface Guardian {
  /** Nothing is left to clean up. */
  dismiss(): void;
}

/** Kills every process that has a `*.pid` file in the folder, and removes the folder. */
export function guard(folder: string): Guardian {
  // Detached: an interrupt from the keyboard is sent to the whole group and must not reach it.
  const shell = spawn('/bin/sh', ['-c', script, 'guardian', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  shell.unref();
  (shell.stdin as unknown as { unref(): void }).unref();
  shell.on('error', () => {}); // without a shell there is no guard, only our own care
  shell.stdin.on('error', () => {});
  return { dismiss: () => void shell.kill('SIGKILL') };
}
