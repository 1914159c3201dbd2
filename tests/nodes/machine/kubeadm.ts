/** `kubeadm join` on a node. There is no init system: this module starts the kubelet when kubeadm has written its files. */

import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lastLines, machineSettings, socket, until } from '@hangar/cli/machine';
import type { Node } from '@hangar/cli/machine';
import { tool } from '../../../tools/tool.ts';

const log = (line: string): void => console.log(line);

/** Joins by the command that a user pastes: `kubeadm join HOST:PORT --token … --discovery-token-ca-cert-hash …`. */
export async function kubeadmJoin(node: Node, command: string): Promise<void> {
  const [program, ...args] = command.trim().split(/\s+/);
  if (program !== 'kubeadm') throw new Error(`not a command of kubeadm: ${command}`);
  const patches = join(node.folder, 'kubeadm-patches');
  await mkdir(patches, { recursive: true });
  await writeFile(join(patches, 'kubeletconfiguration.json'), JSON.stringify(machineSettings(node.cgroup)));
  const kubeadm = await node.startProgram('kubeadm', await tool('kubeadm', { log }), [
    ...args,
    `--node-name=${node.name}`,
    `--cri-socket=unix://${socket}`,
    `--patches=${patches}`,
    // They check programs of the machine that only other settings need, and its init system.
    '--ignore-preflight-errors=all',
  ]);
  const written = ['config.yaml', 'kubeadm-flags.env'].map((name) => join(node.folder, 'kubelet', name));
  await until('kubeadm has written the files of the kubelet', { program: kubeadm }, async () =>
    written.every(existsSync),
  );
  const flags = /^KUBELET_KUBEADM_ARGS="(.*)"$/m.exec(await readFile(written[1]!, 'utf8'))?.[1] ?? '';
  await node.startProgram('kubelet', await tool('kubelet', { log }), [
    '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
    '--kubeconfig=/etc/kubernetes/kubelet.conf',
    '--config=/var/lib/kubelet/config.yaml',
    `--node-ip=${node.addresses.address}`,
    ...flags.split(' ').filter((flag) => flag !== ''),
  ]);
  const code = await kubeadm.exited();
  if (code !== 0) throw new Error(`kubeadm join: exit code ${code}\n${await lastLines(kubeadm.logFile)}`);
}
