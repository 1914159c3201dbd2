/** The images of the nodes' containers, and everything that differs between them. */

import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { ownProgram } from '../../../tools/own-program.ts';
import { tool } from '../../../tools/tool.ts';
import type { ToolName } from '../../../tools/tool.ts';
import type { ImageProcess } from './archive.ts';

export interface Image {
  readonly process: ImageProcess;
  /** Path in the image → the program. */
  readonly programs: Readonly<Record<string, () => Promise<string>>>;
  /** Whether the image has the programs of busybox. Those of packages take precedence. */
  readonly hasBusybox: boolean;
  /** Debian packages, which are unpacked with everything that they depend on. */
  readonly packages?: readonly string[];
  /** Path in the image → target. */
  readonly links?: Readonly<Record<string, string>>;
  /** Path in the image → text. */
  readonly files?: Readonly<Record<string, string>>;
  /** Returns files that differ each time the image is assembled. */
  readonly generated?: () => Readonly<Record<string, string>>;
  /** Programs that run with the rights of their owner, by their path in the image. */
  readonly setuid?: readonly string[];
}

const log = (line: string): void => console.log(line);
const path = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
const program = (name: ToolName) => (): Promise<string> => tool(name, { log });

/** The program of the sandbox container of pods. */
function pauseProgram(): Promise<string> {
  const folder = fileURLToPath(new URL('../programs/pause', import.meta.url));
  return ownProgram({ name: 'hangar-pause', folder }, log);
}

/** A component of a control plane, found by its name as in the images of Kubernetes. */
const component = (name: ToolName, from: ToolName = name): Image => ({
  process: { Entrypoint: [`/usr/local/bin/${name}`], Env: path },
  programs: { [`usr/local/bin/${name}`]: program(from) },
  hasBusybox: false,
});

/** Images of `tests/nodes`. */
const basic = {
  pause: {
    process: { Entrypoint: ['/pause'], User: '65535:65535' },
    programs: { pause: pauseProgram },
    hasBusybox: false,
  },
  busybox: {
    process: { Cmd: ['sh'], Env: path },
    programs: {},
    hasBusybox: true,
  },
  agnhost: {
    process: { Entrypoint: ['/agnhost'], Cmd: ['pause'], Env: path },
    programs: { agnhost: program('agnhost') },
    hasBusybox: true,
  },
  coredns: {
    process: { Entrypoint: ['/coredns'] },
    programs: { coredns: program('coredns') },
    hasBusybox: false,
  },
  'kube-proxy': {
    process: { Env: path },
    programs: { 'usr/local/bin/kube-proxy': program('kube-proxy') },
    hasBusybox: false,
    packages: ['nftables'],
  },
  'konnectivity-agent': {
    process: { Entrypoint: ['/proxy-agent'] },
    programs: { 'proxy-agent': program('konnectivity-agent') },
    hasBusybox: false,
  },
  'metrics-server': {
    process: { Entrypoint: ['/metrics-server'] },
    programs: { 'metrics-server': program('metrics-server') },
    hasBusybox: false,
  },
} as const satisfies Record<string, Image>;

/** Images of control planes that run as pods: `tests/hosted`. */
const components = {
  'kube-apiserver': component('kube-apiserver'),
  'kube-controller-manager': component('kube-controller-manager'),
  'kube-scheduler': component('kube-scheduler'),
  'kube-apiserver-1.35': component('kube-apiserver', 'kube-apiserver-1.35'),
  'kube-controller-manager-1.35': component('kube-controller-manager', 'kube-controller-manager-1.35'),
  'kube-scheduler-1.35': component('kube-scheduler', 'kube-scheduler-1.35'),
} as const satisfies Record<string, Image>;

/** Images of Kubernetes' conformance specs: `tests/conformance/nodes/images.ts` has their names there. */
const conformance = {
  'e2e-agnhost': {
    process: { Entrypoint: ['/agnhost'], Cmd: ['pause'], Env: path, WorkingDir: '/' },
    programs: { agnhost: program('agnhost') },
    hasBusybox: true,
    packages: ['dash', 'libc-bin', 'curl', 'bind9-dnsutils', 'netcat-openbsd'],
    // A script of the package creates the link to nc.
    links: { 'agnhost-2': 'agnhost', 'usr/bin/nc': 'nc.openbsd' },
    files: {
      'uploads/.keep': '',
      // A script of a package would write it.
      'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    },
    generated: localhostCertificate,
  },
  'e2e-busybox': {
    process: { Cmd: ['sh'], Env: path },
    programs: {},
    hasBusybox: true,
    // The shell of Debian's busybox drops environment variables whose names have dots or dashes, and that of the real image does not.
    // Specs about the environment run `sh`; a spec about the messages of busybox runs `/bin/sh`.
    packages: ['bash'],
    links: { 'usr/local/bin/sh': '/bin/bash' },
  },
  etcd: {
    process: { Env: path },
    programs: { 'usr/local/bin/etcd': program('etcd') },
    hasBusybox: true,
  },
  nautilus: {
    process: { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'], Env: path, WorkingDir: '/' },
    programs: { agnhost: program('agnhost') },
    hasBusybox: true,
    files: { 'data.json': '{"image": "nautilus.jpg"}\n', 'nautilus.jpg': 'a picture of a nautilus\n' },
  },
  nginx: {
    process: { Cmd: ['nginx', '-c', '/etc/nginx/conformance.conf'], Env: path },
    programs: {},
    hasBusybox: true,
    packages: ['dash', 'nginx'],
    files: { 'etc/nginx/conformance.conf': nginxConfiguration(), 'var/www/index.html': 'nginx\n' },
  },
  nonewprivs: {
    process: { Cmd: ['nnp'], Env: path },
    programs: { 'usr/local/bin/nnp': program('nonewprivs') },
    hasBusybox: true,
    setuid: ['usr/local/bin/nnp'],
  },
  'sample-apiserver': {
    process: { Entrypoint: ['/sample-apiserver'], Env: path },
    programs: { 'sample-apiserver': program('sample-apiserver') },
    hasBusybox: true,
  },
} as const satisfies Record<string, Image>;

export const catalogue = { ...basic, ...components, ...conformance };

export type ImageName = keyof typeof catalogue;

/** The images that a node imports unless a test names others. */
export const defaultImages: readonly ImageName[] = ['pause', 'busybox', 'agnhost', 'coredns'];

const certificateDays = 3650;

/** agnhost serves TLS with it. Clients do not verify it. */
function localhostCertificate(): Readonly<Record<string, string>> {
  const world = { clock: systemClock, random: systemRandom };
  const authority = createAuthority('localhost', certificateDays, world);
  const request = { commonName: 'localhost', usage: 'server', hosts: ['localhost', '127.0.0.1'] } as const;
  const { certificate, key } = issueCertificate(authority, { ...request, days: certificateDays }, world);
  return { 'localhost.crt': certificate, 'localhost.key': key };
}

/** All folders that nginx writes to are in /tmp, so that it also runs as another user than root. */
function nginxConfiguration(): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const folders = kinds.map((kind) => `  ${kind}_temp_path /tmp/${kind};\n`).join('');
  return `
user root root;
daemon off;
error_log /dev/stderr;
pid /tmp/nginx.pid;
events {}
http {
${folders}  access_log off;
  default_type text/html;
  server {
    listen 80;
    root /var/www;
  }
}
`;
}
