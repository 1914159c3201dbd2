/**
 * Arguments of kube-proxy as fields of its configuration file: with a file, kube-proxy ignores the flags for these settings.
 *
 *     proxyConfiguration({ 'proxy-mode': 'nftables', v: '4' })   // { configuration: { mode: 'nftables' }, args: { v: '4' } }
 */

type Parse = (text: string) => unknown;

const text: Parse = (value) => value;
const number: Parse = Number;
const truth: Parse = (value) => value === 'true';
const list: Parse = (value) => value.split(',');

/** Flag → path of the field, and its type. */
const fields: Readonly<Record<string, readonly [string, Parse]>> = {
  'bind-address': ['bindAddress', text],
  'cluster-cidr': ['clusterCIDR', text],
  'conntrack-max-per-core': ['conntrack.maxPerCore', number],
  'conntrack-min': ['conntrack.min', number],
  'conntrack-tcp-timeout-close-wait': ['conntrack.tcpCloseWaitTimeout', text],
  'conntrack-tcp-timeout-established': ['conntrack.tcpEstablishedTimeout', text],
  'detect-local-mode': ['detectLocalMode', text],
  'healthz-bind-address': ['healthzBindAddress', text],
  'iptables-min-sync-period': ['iptables.minSyncPeriod', text],
  'iptables-sync-period': ['iptables.syncPeriod', text],
  'ipvs-scheduler': ['ipvs.scheduler', text],
  'ipvs-strict-arp': ['ipvs.strictARP', truth],
  'masquerade-all': ['iptables.masqueradeAll', truth],
  'metrics-bind-address': ['metricsBindAddress', text],
  'nodeport-addresses': ['nodePortAddresses', list],
  'proxy-mode': ['mode', text],
};

type Fields = Record<string, unknown>;

export function proxyConfiguration(args: Readonly<Record<string, string>> = {}): {
  configuration: Fields;
  args: Record<string, string>;
} {
  const configuration: Fields = {};
  const others: Record<string, string> = {};
  for (const [flag, value] of Object.entries(args)) {
    const field = Object.hasOwn(fields, flag) ? fields[flag] : undefined;
    if (!field) {
      others[flag] = value;
      continue;
    }
    const [path, parse] = field;
    const [name, inner] = path.split('.') as [string, string?];
    configuration[name] =
      inner === undefined ? parse(value) : { ...(configuration[name] as Fields | undefined), [inner]: parse(value) };
  }
  return { configuration, args: others };
}
