/** The data directory that `status`, `down` and `logs` look into. */

import { resolve } from 'node:path';
import type { Given, OptionSpec } from '../../command.ts';
import type { Session } from '../../session.ts';

export const dataDirOption: OptionSpec = {
  name: 'data-dir',
  value: 'DIR',
  meaning: 'data directory of the server (default: .data)',
  completes: 'folder',
};

export const serverFolder = ({ folder }: Pick<Session, 'folder'>, given: Given): string =>
  resolve(folder, given.text('data-dir') ?? '.data');
