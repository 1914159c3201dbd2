/** `hangar node join-command NAME`: how another machine becomes a node of a control plane. */

import { findControlPlane } from '../../control-planes/find.ts';
import { joinMaterialOf } from '../../control-planes/join.ts';
import type { JoinMaterial } from '../../control-planes/join.ts';
import type { Call } from '../../command.ts';
import { usage } from '../../errors.ts';
import { plainLines } from '../../terminal/plain-text.ts';
import { printedValue } from '../../terminal/printed.ts';

export async function joinCommand({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[1]!;
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
}

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
