/** All commands, in the order of the help. */

import type { Command } from '../command.ts';
import { backup } from './backup.ts';
import { backups } from './backups.ts';
import { complete } from './complete.ts';
import { completion } from './completion.ts';
import { connect } from './connect.ts';
import { create } from './create.ts';
import { credential } from './credential.ts';
import { deleteCommand } from './delete.ts';
import { describe } from './describe.ts';
import { doctor } from './doctor.ts';
import { down } from './down.ts';
import { etcd } from './etcd.ts';
import { get } from './get.ts';
import { help } from './help.ts';
import { hosted } from './hosted.ts';
import { kubeconfig } from './kubeconfig.ts';
import { logs } from './logs.ts';
import { migrate } from './migrate.ts';
import { node } from './node.ts';
import { projects } from './projects.ts';
import { purge } from './purge.ts';
import { restore } from './restore.ts';
import { resume } from './resume.ts';
import { status } from './status.ts';
import { suspend } from './suspend.ts';
import { top } from './top.ts';
import { use } from './use.ts';
import { version } from './version.ts';

export const commands: readonly Command[] = [
  status,
  logs,
  down,
  create,
  get,
  describe,
  kubeconfig,
  credential,
  use,
  connect,
  node,
  projects,
  hosted,
  etcd,
  migrate,
  deleteCommand,
  purge,
  suspend,
  resume,
  backup,
  backups,
  restore,
  top,
  doctor,
  version,
  completion,
  help,
  complete,
];

export const findCommand = (name: string): Command | undefined =>
  commands.find((one) => one.name === name || one.aliases?.includes(name));
