/**
 * The real Cluster API in a management cluster: its definitions and webhooks, and its core manager and kubeadm bootstrap manager as
 * processes on this machine.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseYamlDocuments } from '@hangar/api/yaml';
import { defineKind } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import type { ValidatingWebhook } from '@hangar/client/kinds/admissionregistration-v1';
import type { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { installCrd, testAuthority } from '@hangar/testkit';
import { freePorts } from '../../../tools/free-ports.ts';
import { tool } from '../../../tools/tool.ts';
import { until } from '../../process-runtime/testing/until.ts';
import { moduleFolder } from './module-folder.ts';

const setFolder = join(import.meta.dirname, '../../../tools/sets/cluster-api');
const providers = [
  { program: 'cluster-api-core', config: 'core/config', flags: ['--feature-gates=ClusterTopology=true'] },
  { program: 'cluster-api-bootstrap-kubeadm', config: 'bootstrap/kubeadm/config', flags: [] },
] as const;

/** Labels that the kustomizations of Cluster API add to its definitions: the API versions that follow each contract. */
const contractLabels = { 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1beta2' };

export interface ClusterApi {
  /** The last lines of both managers. */
  readonly lines: readonly string[];
  /** The URL of the metrics of the core manager. */
  readonly metricsUrl: string;
  stop(): Promise<void>;
}

export interface ClusterApiOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  /** For certificates. */
  readonly folder: string;
}

/** Installs the definitions without webhooks, for a management cluster without managers. */
export async function installClusterApiDefinitions(client: Client): Promise<void> {
  const module = await moduleFolder(setFolder, 'sigs.k8s.io/cluster-api');
  for (const { config } of providers) await installDefinitions(client, join(module, config), undefined);
}

/** Resolves when both managers are ready. */
export async function startClusterApi({ client, kubeconfig, folder }: ClusterApiOptions): Promise<ClusterApi> {
  const module = await moduleFolder(setFolder, 'sigs.k8s.io/cluster-api');
  const authority = testAuthority();
  const { certificate, key } = authority.serving();
  const certificates = join(folder, 'cluster-api-certificates');
  await mkdir(certificates);
  await writeFile(join(certificates, 'tls.crt'), certificate);
  await writeFile(join(certificates, 'tls.key'), key);
  const lines: string[] = [];
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(ended));
  };
  try {
    const health: number[] = [];
    const metrics: string[] = [];
    for (const { program, config, flags } of providers) {
      const [webhookPort = 0, healthPort = 0, metricsPort = 0] = await freePorts(3);
      const webhook = { url: `https://127.0.0.1:${webhookPort}`, ca: authority.certificate };
      await installDefinitions(client, join(module, config), webhook);
      health.push(healthPort);
      metrics.push(`http://127.0.0.1:${metricsPort}/metrics`);
      children.push(
        started(await tool(program, { log: console.log }), lines, [
          `--kubeconfig=${kubeconfig}`,
          `--webhook-port=${webhookPort}`,
          `--webhook-cert-dir=${certificates}`,
          `--health-addr=127.0.0.1:${healthPort}`,
          `--diagnostics-address=127.0.0.1:${metricsPort}`,
          '--insecure-diagnostics',
          '--v=0',
          ...flags,
        ]),
      );
      await installWebhooks(client, join(module, config), webhook);
    }
    for (const port of health) await ready(port, lines);
    return { lines, metricsUrl: metrics[0]!, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Webhook {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function installDefinitions(client: Client, config: string, webhook: Webhook | undefined): Promise<void> {
  const folder = join(config, 'crd/bases');
  const names = (await readdir(folder)).sort();
  await Promise.all(
    names.map(async (name) => {
      const [definition] = await documents<CustomResourceDefinition>(join(folder, name));
      const { metadata, spec } = definition!;
      const clientConfig = webhook && { url: `${webhook.url}/convert`, caBundle: base64(webhook.ca) };
      const conversion = clientConfig && {
        strategy: 'Webhook' as const,
        webhook: { clientConfig, conversionReviewVersions: ['v1'] },
      };
      const labels = { ...contractLabels, 'clusterctl.cluster.x-k8s.io': '' };
      const complete: CustomResourceDefinition = {
        ...definition!,
        metadata: { ...metadata, labels },
        spec: { ...spec, ...(conversion ? { conversion } : {}) },
      };
      await installCrd(client, complete);
    }),
  );
}

/** Of mutating or validating webhooks. */
interface WebhookConfiguration extends ApiObject {
  readonly webhooks: readonly ValidatingWebhook[];
}

/** Replaces the Service of each webhook by the address on this machine. */
async function installWebhooks(client: Client, config: string, { url, ca }: Webhook): Promise<void> {
  const provider = config.includes('kubeadm') ? 'kubeadm' : 'core';
  for (const configuration of await documents<WebhookConfiguration>(join(config, 'webhook/manifests.yaml'))) {
    const { apiVersion, kind, metadata } = configuration;
    const webhooks = configuration.webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { url: `${url}${webhook.clientConfig.service!.path}`, caBundle: base64(ca) },
    }));
    const names = { apiVersion: apiVersion!, kind: kind!, plural: `${kind!.toLowerCase()}s`, isNamespaced: false };
    const metadataOfProvider = { name: `${provider}-${metadata.name}` };
    await client.create(defineKind<WebhookConfiguration>(names), { metadata: metadataOfProvider, webhooks });
  }
}

const documents = async <T>(file: string): Promise<T[]> =>
  parseYamlDocuments(await readFile(file, 'utf8')).filter(Boolean) as T[];

function started(path: string, lines: string[], args: readonly string[]): ChildProcess {
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.on('data', (chunk: Buffer) => {
    lines.push(...chunk.toString().split('\n'));
    lines.splice(0, lines.length - 50);
  });
  return child;
}

async function ready(port: number, lines: readonly string[]): Promise<void> {
  await until(
    'the manager of Cluster API is ready',
    () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    () => lines.join('\n'),
  );
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
