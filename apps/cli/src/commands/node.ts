/** `hangar node join-command NAME`: how a machine becomes a node of a control plane. */

import { findControlPlane } from '../control-planes/find.ts';
import { joinMaterialOf } from '../control-planes/join.ts';
import type { JoinMaterial } from '../control-planes/join.ts';
import type { Command } from '../command.ts';
import { usage } from '../errors.ts';
import { plainLines, quoted } from '../terminal/plain-text.ts';
import { printedValue } from '../terminal/printed.ts';

const actions = ['join-command'] as const;

export const node: Command = {
  name: 'node',
  summary: 'print the command that joins a machine to a control plane as a node',
  description:
    'join-command prints a "kubeadm join" command, to be run as root on the machine. --kubelet prints a shell script for a machine without kubeadm: it writes the files of the kubelet and starts it. The command contains a bootstrap token, which is valid for at most 24 hours and is renewed before it expires; every holder of the token can add nodes. The control plane must have nodes enabled: see "create --nodes".',
  args: [
    { name: 'ACTION', meaning: 'join-command', completes: actions },
    { name: 'NAME', meaning: 'name of the control plane', completes: 'control-plane' },
  ],
  options: [
    { name: 'kubelet', meaning: 'print a script with the files and the command line of a kubelet, without kubeadm' },
    {
      name: 'output',
      short: 'o',
      value: 'FORMAT',
      meaning: 'json or yaml: print the command, the token and all files as data',
      oneOf: ['json', 'yaml'],
      completes: ['json', 'yaml'],
    },
  ],
  examples: ['node join-command demo', 'node join-command demo --kubelet > join.sh'],
  isConnected: true,
  async run({ session, given, client: connected }) {
    const [action, name] = given.args as [string, string];
    if (!actions.some((one) => one === action)) {
      throw usage(`${quoted(action)} is not an action of node`, `actions: ${actions.join(', ')}`);
    }
    const output = given.text('output') as 'json' | 'yaml' | undefined;
    if (output !== undefined && given.flag('kubelet')) {
      throw usage('--kubelet and -o cannot be used together: -o prints the files of the kubelet, too');
    }
    const client = await connected();
    const { signal, clock, out } = session;
    const plane = await findControlPlane(client, name, signal);
    const material = await joinMaterialOf(client, plane, { nowMs: clock.now(), signal });
    if (output !== undefined) return out.write(printedValue(output, dataOf(material)));
    out.write(plainLines(given.flag('kubelet') ? kubeletScript(material) : `${material.command}\n`));
  },
};

const bootstrapFile = '/etc/kubernetes/bootstrap-kubelet.conf';
const configFile = '/var/lib/kubelet/config.yaml';
const kubeletCommand = [
  'kubelet',
  `--bootstrap-kubeconfig=${bootstrapFile}`,
  '--kubeconfig=/etc/kubernetes/kubelet.conf',
  `--config=${configFile}`,
  '--cert-dir=/var/lib/kubelet/pki',
];

/** By path, as kubeadm places them. */
const filesOf = ({ bootstrapKubeconfig, ca, kubeletConfiguration }: JoinMaterial): Record<string, string> => ({
  [bootstrapFile]: bootstrapKubeconfig,
  '/etc/kubernetes/pki/ca.crt': ca,
  [configFile]: kubeletConfiguration,
});

const dataOf = (material: JoinMaterial) => ({
  command: material.command,
  endpoint: material.endpoint,
  token: material.token,
  expires: material.expires,
  caHash: material.caHash,
  kubelet: { command: kubeletCommand, files: filesOf(material) },
});

/** For `sh`. No line of the files is EOF: they are PEM and YAML that the operator writes. */
const kubeletScript = (material: JoinMaterial): string =>
  [
    'set -e',
    'umask 077',
    'mkdir -p /etc/kubernetes/manifests /etc/kubernetes/pki /var/lib/kubelet',
    ...Object.entries(filesOf(material)).map(([path, text]) => `cat > ${path} <<'EOF'\n${text.trimEnd()}\nEOF`),
    `exec ${kubeletCommand.join(' \\\n  ')}`,
    '',
  ].join('\n');
