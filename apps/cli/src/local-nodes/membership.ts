/** Credentials and settings of a node from the control plane that it joins. */

import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isObject } from '@hangar/api/json';
import { parseYaml } from '@hangar/api/yaml';
import type { JoinMaterial } from '../control-planes/join.ts';
import type { Join } from '../machine/index.ts';

/** `nameservers`: for names outside of the cluster. */
export function joinOf(material: JoinMaterial, nameservers: readonly string[]): Join {
  const { value } = parseYaml(material.kubeletConfiguration);
  const settings = isObject(value) ? value : {};
  // The other fields are for a machine with systemd and with the paths of kubeadm.
  const kept = ['clusterDNS', 'clusterDomain'].filter((name) => settings[name] !== undefined);
  return {
    bootstrapKubeconfig: material.bootstrapKubeconfig,
    clientAuthority: material.ca,
    nameservers,
    configuration: Object.fromEntries(kept.map((name) => [name, settings[name]])),
  };
}

const resolverFiles = ['/run/systemd/resolve/resolv.conf', '/etc/resolv.conf'];

/** Returns the DNS servers of this machine. Those at loopback addresses are left out: a node does not reach them. */
export async function machineNameservers(files: readonly string[] = resolverFiles): Promise<string[]> {
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '');
    const found = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, address]) => address!);
    const usable = found.filter((address) => isIP(address) === 4 && !address.startsWith('127.'));
    if (usable.length > 0) return usable.slice(0, nameserversMax);
  }
  return [];
}

/** The limit of resolvers. */
const nameserversMax = 3;
