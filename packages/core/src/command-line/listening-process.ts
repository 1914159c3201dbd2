/** Finds the process that listens on a TCP port of this machine, so that messages can name it. */

import { readdir, readFile, readlink } from 'node:fs/promises';

export interface ListeningProcess {
  readonly pid: number;
  /** Its whole command line: callers shorten it. */
  readonly command: string;
  readonly isHangar: boolean;
}

/** Undefined: none listens, it belongs to another user, or the system does not tell. Never rejects. */
export async function listeningProcess(port: number): Promise<ListeningProcess | undefined> {
  try {
    return process.platform === 'linux' ? await byProc(port) : await byLsof(port);
  } catch {
    return undefined;
  }
}

async function byProc(port: number): Promise<ListeningProcess | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')),
  );
  const sockets = new Set(tables.flatMap((text) => listeningSockets(text, port)).map((inode) => `socket:[${inode}]`));
  if (sockets.size === 0) return undefined;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    // Processes of other users do not show their files.
    const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const file of files) {
      if (!sockets.has(await readlink(`/proc/${pid}/fd/${file}`).catch(() => ''))) continue;
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').filter(Boolean).join(' ');
      return described(Number(pid), command);
    }
  }
  return undefined;
}

/** Lines are `sl local_address rem_address st … inode`, with `ADDRESS:PORT` in hexadecimal; state 0A is LISTEN. */
function listeningSockets(text: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(suffix) && state === '0A')
    .map((fields) => fields[9]!);
}

async function byLsof(port: number): Promise<ListeningProcess | undefined> {
  const [{ execFile }, { promisify }] = await Promise.all([import('node:child_process'), import('node:util')]);
  const run = promisify(execFile);
  const { stdout } = await run('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fp'], { timeout: 5_000 });
  const pid = /^p(\d+)$/m.exec(stdout)?.[1];
  if (pid === undefined) return undefined;
  const { stdout: command } = await run('ps', ['-o', 'command=', '-p', pid], { timeout: 5_000 });
  return described(Number(pid), command.trim());
}

const described = (pid: number, command: string): ListeningProcess => ({
  pid,
  command,
  isHangar: isHangarCommand(command),
});

/** Returns true for a command line with the program `hangar` in it. */
export const isHangarCommand = (command: string): boolean => /(^|[\s/])hangar(\.js)?(\s|$)/.test(command);
