/**
 * Reads the file of `--egress-selector-config-file`: kube-apiserver's EgressSelectorConfiguration.
 *
 *     apiVersion: apiserver.k8s.io/v1beta1
 *     kind: EgressSelectorConfiguration
 *     egressSelections:
 *       - name: cluster
 *         connection:
 *           proxyProtocol: HTTPConnect
 *           transport:
 *             uds: { udsName: /run/konnectivity-server.socket }
 *
 * Only the selection `cluster` has an effect: this server connects to etcd and to other control planes directly. The checks are those of
 * kube-apiserver.
 */

import { parseStrictly, unknownFields } from '../../strict-configuration.ts';

export interface TlsFiles {
  /** Absent: the authorities that the system trusts. */
  readonly caBundle?: string;
  readonly clientCert: string;
  readonly clientKey: string;
  /** Absent: the host of the URL. */
  readonly tlsServerName?: string;
}

/** How this server reaches the network of a cluster. */
export type EgressConnection =
  | { readonly protocol: 'Direct' }
  | { readonly protocol: 'HTTPConnect' | 'GRPC'; readonly socket: string }
  | { readonly protocol: 'HTTPConnect'; readonly url: string; readonly tls: TlsFiles | undefined };

const versions = new Set(['apiserver.k8s.io/v1beta1', 'apiserver.k8s.io/v1alpha1']);
const names = ['cluster', 'controlplane', 'etcd'];

type Fields = Readonly<Record<string, unknown>>;

/** Returns the connection of the selection `cluster`; `Direct` without one. Throws an Error that names the field. */
export function parseEgressConfiguration(text: Uint8Array | string): EgressConnection {
  const config = fieldsOf(parseStrictly(text, fault), '', ['apiVersion', 'kind', 'egressSelections']);
  if (config['kind'] !== 'EgressSelectorConfiguration' || !versions.has(String(config['apiVersion']))) {
    throw fault(`unexpected config type: ${String(config['apiVersion'])}, Kind=${String(config['kind'])}`);
  }
  const selections = config['egressSelections'] ?? [];
  if (!Array.isArray(selections)) throw fault('egressSelections: must be a list');
  const found = new Map<string, EgressConnection>();
  for (const [at, one] of selections.entries()) {
    const path = `egressSelections[${at}]`;
    const selection = fieldsOf(one, path, ['name', 'connection']);
    const name = String(selection['name']).toLowerCase();
    if (!names.includes(name))
      throw fault(`${path}.name: unsupported value "${name}": supported values: ${quoted(names)}`);
    if (found.has(name)) throw fault(`${path}.name: duplicate value "${name}"`);
    found.set(name, connectionOf(selection['connection'], `${path}.connection`));
  }
  return found.get('cluster') ?? { protocol: 'Direct' };
}

function connectionOf(value: unknown, path: string): EgressConnection {
  const connection = fieldsOf(value, path, ['proxyProtocol', 'transport']);
  const protocol = connection['proxyProtocol'];
  const { transport } = connection;
  if (protocol === 'Direct') {
    if (transport !== undefined) throw fault(`${path}.transport: must be absent for Direct`);
    return { protocol };
  }
  if (protocol !== 'HTTPConnect' && protocol !== 'GRPC') {
    const supported = quoted(['Direct', 'HTTPConnect', 'GRPC']);
    throw fault(`${path}.proxyProtocol: unsupported value "${String(protocol)}": supported values: ${supported}`);
  }
  if (transport === undefined) throw fault(`${path}.transport: required for ${protocol}`);
  const { tcp, uds } = fieldsOf(transport, `${path}.transport`, ['tcp', 'uds']);
  if (protocol === 'GRPC' && uds === undefined) throw fault(`${path}.transport.uds: required for GRPC`);
  if ((tcp === undefined) === (uds === undefined)) {
    throw fault(`${path}.transport: exactly one of tcp and uds must be set`);
  }
  if (uds !== undefined) {
    const { udsName } = fieldsOf(uds, `${path}.transport.uds`, ['udsName']);
    return { protocol, socket: textOf(udsName, `${path}.transport.uds.udsName`) };
  }
  return { protocol: 'HTTPConnect', ...tcpOf(tcp, `${path}.transport.tcp`) };
}

function tcpOf(value: unknown, path: string): { url: string; tls: TlsFiles | undefined } {
  const fields = fieldsOf(value, path, ['url', 'tlsConfig']);
  const url = textOf(fields['url'], `${path}.url`);
  const { tlsConfig } = fields;
  if (url.startsWith('http://')) {
    if (tlsConfig !== undefined) throw fault(`${path}.tlsConfig: must be absent for http://`);
    return { url, tls: undefined };
  }
  if (!url.startsWith('https://') || !URL.canParse(url))
    throw fault(`${path}.url: must start with http:// or https://`);
  if (tlsConfig === undefined) throw fault(`${path}.tlsConfig: required for https://`);
  const tls = fieldsOf(tlsConfig, `${path}.tlsConfig`, ['caBundle', 'clientCert', 'clientKey', 'tlsServerName']);
  const optional = (name: string): object =>
    tls[name] === undefined ? {} : { [name]: textOf(tls[name], `${path}.tlsConfig.${name}`) };
  return {
    url,
    tls: {
      clientCert: textOf(tls['clientCert'], `${path}.tlsConfig.clientCert`),
      clientKey: textOf(tls['clientKey'], `${path}.tlsConfig.clientKey`),
      ...optional('caBundle'),
      ...optional('tlsServerName'),
    },
  };
}

const fault = (reason: string): Error => new Error(reason);
const quoted = (values: readonly string[]): string => values.map((value) => `"${value}"`).join(', ');

function fieldsOf(value: unknown, path: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault(`${path}: must be an object`);
  const [unknown] = unknownFields(path, value, known);
  if (unknown !== undefined) throw fault(`unknown field "${unknown}"`);
  return value as Fields;
}

function textOf(value: unknown, path: string): string {
  if (typeof value !== 'string' || value === '') throw fault(`${path}: required`);
  return value;
}
