/** `hangar create NAME`: a control plane, and its kubeconfig when it can be used. */

import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { hasCode } from '@hangar/core';
import { failed, usage } from '../errors.ts';
import { accessOf } from '../control-planes/access.ts';
import { withDefinitions } from '../control-planes/find.ts';
import { untilReady } from '../control-planes/ready.ts';
import { quoted } from '../terminal/plain-text.ts';
import { formats, nameOf, printed } from '../terminal/printed.ts';
import type { Format } from '../terminal/printed.ts';
import { ControlPlane } from '../kinds.ts';
import type { ControlPlaneObject, NodesSettings } from '../kinds.ts';
import type { Call, Command, Given } from '../command.ts';
import { PlaneTable } from '../control-planes/table.ts';
import { dedicatedWaitMs, planeTimeoutOption, timeoutMs } from './common/timeout.ts';
import { insistOnReplaceable, writtenKubeconfig } from './common/written-kubeconfig.ts';
import { insistOnNewName } from './common/new-name.ts';
import { hangar } from '../hints.ts';

export const create: Command = {
  name: 'create',
  summary: 'create a control plane and wait until it is ready',
  description:
    'The command waits until the control plane is ready. -o FILE writes its kubeconfig, which only you can read. If data is retained at the path of the control plane, the control plane takes it over. A dedicated control plane requires "hangar up --hosted", or the operator of hosted control planes.',
  args: [{ name: 'NAME', meaning: 'name of the control plane: lower-case letters, digits and dashes, at most 63' }],
  options: [
    { name: 'class', value: 'NAME', meaning: 'ControlPlaneClass (default: none)' },
    {
      name: 'mode',
      value: 'MODE',
      meaning: 'virtual: in the shared API server; dedicated: a separate etcd and kube-apiserver (default: virtual)',
      oneOf: ['virtual', 'dedicated'],
      completes: ['virtual', 'dedicated'],
    },
    {
      name: 'kubernetes-version',
      value: 'VERSION',
      meaning: 'version of a dedicated control plane, such as v1.36.4 (default: that of the class, else the newest)',
    },
    { name: 'host', value: 'NAME', meaning: 'host name for clients outside the platform network' },
    {
      name: 'deletion-policy',
      value: 'POLICY',
      meaning:
        'Retain or Destroy the data when the control plane is deleted (default: the policy of the class, else Retain)',
      oneOf: ['Retain', 'Destroy'],
      completes: ['Retain', 'Destroy'],
    },
    {
      name: 'nodes',
      meaning: 'let nodes join: the control plane gets a separate port (default: the setting of the class, else no)',
    },
    {
      name: 'node-networks',
      value: 'CIDRS',
      meaning: 'networks of the nodes, pods and services, separated by commas; implies --nodes',
    },
    { name: 'wait', isOn: true, meaning: 'do not wait until it is ready' },
    planeTimeoutOption,
    {
      name: 'output',
      short: 'o',
      value: 'FILE|FORMAT',
      meaning: 'file for the kubeconfig (- is standard output); or json, yaml, name, wide: print the object',
      completes: 'file',
    },
  ],
  examples: [
    'create demo',
    'create demo -o demo.kubeconfig',
    'create shop --class production --host shop.example.com',
    'create shop --nodes --node-networks 10.0.0.0/8',
    'create big --mode dedicated --kubernetes-version v1.36.4',
  ],
  isConnected: true,
  run: createNow,
};

async function createNow({ session, given, client: connected }: Call): Promise<void> {
  const name = given.args[0]!;
  insistOnNewName(name);
  const output = given.text('output');
  const format = formats.find((one) => one === output);
  const file = format === undefined ? output : undefined;
  if (file !== undefined && !given.flag('wait')) {
    throw usage(
      '-o FILE and --no-wait cannot be used together: the kubeconfig does not exist until the control plane is ready',
    );
  }
  const isDedicated = given.text('mode') === 'dedicated';
  checkMode(given, isDedicated);
  const waitMs = timeoutMs(given, isDedicated ? dedicatedWaitMs : undefined);
  const nodes = nodesSettings(given);
  if (file !== undefined && file !== '-') await insistOnReplaceable(resolve(session.folder, file), file);
  const client = await connected();
  const { signal } = session;
  let plane = await withDefinitions(client.create(ControlPlane, drafted(name, given, nodes), { signal })).catch(
    (error: unknown) => {
      if (!hasCode(error, 'AlreadyExists')) throw error;
      throw failed(`control plane "${name}" already exists`, {
        next: `see: ${hangar(`get ${name}`)}\nits kubeconfig: ${hangar(`kubeconfig ${name}`)}`,
        cause: error,
      });
    },
  );
  if (given.flag('wait')) plane = await untilReady(client, { session, name, timeoutMs: waitMs });
  if (file !== undefined) {
    const access = await accessOf(client, plane, { isExternal: false, signal });
    const where = await writtenKubeconfig(session, { name, access, file });
    if (where !== undefined) session.err.write(`control plane ${name} is ready; its kubeconfig is ${where}\n`);
    return;
  }
  session.out.write(shown(plane, format, given, session.clock.now()));
}

/** Throws `Usage`. */
function checkMode(given: Given, isDedicated: boolean): void {
  const version = given.text('kubernetes-version');
  if (!isDedicated) {
    if (version !== undefined) throw usage('--kubernetes-version requires --mode dedicated');
    return;
  }
  for (const option of ['nodes', 'node-networks']) {
    if (given.has(option)) throw usage(`--${option} and --mode dedicated cannot be used together`);
  }
  if (version !== undefined && !/^v?\d+\.\d+\.\d+/.test(version)) {
    throw usage(`--kubernetes-version: ${quoted(version)} is not a version such as v1.36.4`);
  }
}

/** Undefined: the class decides. Throws `Usage`. */
function nodesSettings(given: Given): NodesSettings | undefined {
  const list = given.text('node-networks');
  if (list === undefined) return given.has('nodes') ? { enabled: given.flag('nodes') } : undefined;
  if (given.has('nodes') && !given.flag('nodes')) throw usage('--no-nodes and --node-networks cannot be used together');
  const networks = list.split(',').map((one) => one.trim());
  const wrong = networks.find((one) => !isCidr(one));
  if (wrong !== undefined) {
    throw usage(`--node-networks: ${quoted(wrong)} is not a network`, 'write networks as 10.0.0.0/8,fd00::/8');
  }
  return { enabled: true, networks };
}

function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...rest] = text.split('/');
  const version = isIP(address);
  return version !== 0 && rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32);
}

const drafted = (
  name: string,
  given: Given,
  nodes: NodesSettings | undefined,
): Omit<ControlPlaneObject, 'apiVersion' | 'kind'> => {
  const isDedicated = given.text('mode') === 'dedicated';
  const [className, host, version] = [given.text('class'), given.text('host'), given.text('kubernetes-version')];
  const policy = given.text('deletion-policy');
  return {
    metadata: { name },
    spec: {
      ...(className === undefined ? {} : { classRef: { name: className } }),
      ...(host === undefined ? {} : { endpointPolicy: { hostname: host } }),
      ...(policy === undefined ? {} : { deletionPolicy: policy as 'Retain' | 'Destroy' }),
      ...(nodes === undefined ? {} : { virtual: { nodes } }),
      ...(isDedicated ? { mode: 'Dedicated' as const } : {}),
      ...(version === undefined ? {} : { dedicated: { version: version.startsWith('v') ? version : `v${version}` } }),
    },
  };
};

function shown(plane: ControlPlaneObject, format: Format | undefined, given: Given, now: number): string {
  if (format === 'wide') return new PlaneTable({ isWide: true, now: () => now }).text([plane]);
  if (format !== undefined) return printed(format, [plane], { isList: false });
  const name = plane.metadata.name!;
  if (!given.flag('wait')) return `${nameOf(plane)} created\n`;
  return [`control plane ${name} is ready`, '', `  ${hangar(`use ${name}`)}`, '  kubectl get namespaces', ''].join(
    '\n',
  );
}
