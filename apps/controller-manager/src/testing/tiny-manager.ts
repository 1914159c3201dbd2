/**
 * testing: a program with the interface of kube-controller-manager that does nothing: it lists flags, answers /healthz and /metrics at its
 * port, exits on SIGTERM, and records how it was started.
 */

import type fs from 'node:fs';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type https from 'node:https';
import { join } from 'node:path';
import { testAuthority } from '@hangar/testkit';
import { managerHelp } from '../options/testing/programs.ts';

export interface TinyManager {
  /** For `--kube-controller-manager`. */
  readonly path: string;
  /** The flags of each start, in order. */
  starts(): string[][];
}

export function tinyManager(folder: string): TinyManager {
  const { certificate, key } = testAuthority().serving();
  const path = join(folder, 'kube-controller-manager');
  const notes = join(folder, 'starts');
  const settings = JSON.stringify({ help: managerHelp, cert: certificate, key, notes });
  writeFileSync(
    path,
    `#!${process.execPath}\nconst settings = ${settings};\n(${program.toString()})(settings, require);\n`,
  );
  chmodSync(path, 0o755);
  return {
    path,
    starts: () =>
      (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []).map((line) => JSON.parse(line)),
  };
}

interface Settings {
  readonly help: string;
  readonly cert: string;
  readonly key: string;
  readonly notes: string;
}

/** Runs in the other process: cannot use anything of this file. */
function program({ help, cert, key, notes }: Settings, load: NodeJS.Require): void {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    const refused = args.find((flag) => /^--(unknown|profilling)/.test(flag));
    if (refused) console.error(`Error: unknown flag: ${refused.split('=')[0]}`);
    else console.log(help);
    process.exit(refused ? 1 : 0);
  }
  const { appendFileSync } = load('node:fs') as typeof fs;
  const { createServer } = load('node:https') as typeof https;
  appendFileSync(notes, `${JSON.stringify(args)}\n`);
  const port = args.find((flag) => flag.startsWith('--secure-port='))!.split('=')[1];
  const server = createServer({ cert, key }, (request, response) => {
    response.end(request.url === '/metrics' ? 'tiny 1\n' : 'ok');
  });
  server.listen(Number(port), '127.0.0.1');
  process.on('SIGTERM', () => process.exit(0));
}
