/** Runs `hangar-types` with the environment of the process. */

import { text } from 'node:stream/consumers';
import { connect } from '../connect.ts';
import { defaultConfig } from '../config/default-config.ts';
import { generate } from './main.ts';

export const main = (args: readonly string[]): Promise<number> =>
  generate(args, {
    out: (written) => process.stdout.write(written),
    error: (written) => process.stderr.write(written),
    standardInput: () => text(process.stdin),
    connect: async (options) => connect(await defaultConfig(options)),
  });
