/** The file /etc/hosts of a pod. It has the names of Services and pods, because there is no DNS server for pods of this machine. */

const domain = 'cluster.local';

export interface HostsOptions {
  readonly namespace: string;
  /** Of the pod itself. */
  readonly hostname: string;
  readonly subdomain: string | undefined;
  readonly podIP: string;
  /** `spec.hostAliases`. */
  readonly aliases: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
  /** From `nameTable`. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

export function hostsFile({ namespace, hostname, subdomain, podIP, aliases, names }: HostsOptions): string {
  const full = subdomain ? `${hostname}.${subdomain}.${namespace}.svc.${domain}\t` : '';
  const lines = [
    '# Written by the process runtime of Hangar.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    `${podIP}\t${full}${hostname}`,
    ...aliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}`),
  ];
  for (const [name, addresses] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const address of addresses) lines.push(`${address}\t${formsOf(name, namespace).join('\t')}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the forms of a name that the search domains of a pod in the namespace resolve. */
export function formsOf(name: string, namespace: string): string[] {
  const forms = [`${name}.svc.${domain}`, `${name}.svc`, name];
  const suffix = `.${namespace}`;
  return name.endsWith(suffix) ? [...forms, name.slice(0, -suffix.length)] : forms;
}

/** Returns the name in `nameTable` of a name with `.svc`. */
export const tableName = (name: string): string => name.replace(/\.svc(?:\.cluster\.local)?$/, '');
