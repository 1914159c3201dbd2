/**
 * Draws docs/architecture.svg. Every text is in an opaque box and lines have a medium grey, so that the picture is legible on a light and on a
 * dark page.
 */

import { fileProblems, writeFiles } from './generated-files.ts';

const name = 'docs/architecture.svg';
const width = 960;
const height = 560;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  readonly lines?: readonly string[];
  readonly fill: string;
}

const blue = '#dbeafe';
const green = '#dcfce7';
const amber = '#fef3c7';
const grey = '#f1f5f9';
const ink = '#0f172a';
const muted = '#475569';
const line = '#7d8590';

const process: Box = { x: 20, y: 120, width: 690, height: 300, title: 'hangar up: one process', fill: '#ffffff' };

const boxes: readonly Box[] = [
  { x: 20, y: 20, width: 210, height: 56, title: 'Platform team', lines: ['hangar CLI, kubectl, GitOps'], fill: grey },
  { x: 260, y: 20, width: 210, height: 56, title: 'Teams', lines: ['kubectl, Helm, client-go'], fill: grey },
  {
    x: 500,
    y: 20,
    width: 210,
    height: 56,
    title: 'Your controllers',
    lines: ['@hangar/runtime'],
    fill: grey,
  },
  {
    x: 40,
    y: 156,
    width: 650,
    height: 50,
    title: 'HTTPS, HTTP/2: authentication, fair queue, authorization, admission',
    lines: ['routes by path /clusters/NAME/control-plane or by host name'],
    fill: blue,
  },
  {
    x: 40,
    y: 236,
    width: 200,
    height: 76,
    title: 'Management plane',
    lines: ['ControlPlane, class and', 'registration objects'],
    fill: amber,
  },
  { x: 262, y: 236, width: 132, height: 76, title: 'Tenant red', lines: ['a complete', 'Kubernetes API'], fill: green },
  {
    x: 410,
    y: 236,
    width: 132,
    height: 76,
    title: 'Tenant blue',
    lines: ['a complete', 'Kubernetes API'],
    fill: green,
  },
  {
    x: 558,
    y: 236,
    width: 132,
    height: 76,
    title: '10,000 more',
    lines: ['idle: some KiB', 'of memory each'],
    fill: green,
  },
  { x: 40, y: 342, width: 200, height: 60, title: 'Operator', lines: ['creates control planes'], fill: amber },
  {
    x: 262,
    y: 342,
    width: 428,
    height: 60,
    title: 'Essential controllers',
    lines: ['one set for all tenants: namespaces, quotas, …'],
    fill: green,
  },
  {
    x: 20,
    y: 464,
    width: 690,
    height: 76,
    title: 'Store: embedded SQLite, or etcd',
    lines: [
      'one key range for each control plane, laid out as kube-apiserver does;',
      'base objects of all tenants exist once',
    ],
    fill: blue,
  },
  {
    x: 750,
    y: 120,
    width: 190,
    height: 130,
    title: 'Controller manager',
    lines: ['for each registered', 'control plane:', 'kube-controller-manager', 'kube-scheduler'],
    fill: amber,
  },
  {
    x: 750,
    y: 290,
    width: 190,
    height: 76,
    title: 'Aggregated servers',
    lines: ['your kinds, in your', 'own storage'],
    fill: grey,
  },
  { x: 750, y: 400, width: 190, height: 56, title: 'Nodes', lines: ['kubelets that you attach'], fill: grey },
];

/** From, to; an arrow at the end. */
const arrows: readonly (readonly [number, number, number, number])[] = [
  [125, 76, 125, 154],
  [365, 76, 365, 154],
  [605, 76, 605, 154],
  [140, 206, 140, 234],
  [328, 206, 328, 234],
  [476, 206, 476, 234],
  [624, 206, 624, 234],
  [140, 342, 140, 314],
  [328, 342, 328, 314],
  [476, 342, 476, 314],
  [624, 342, 624, 314],
  [365, 420, 365, 462],
  [750, 181, 692, 181],
  [710, 328, 748, 328],
  [750, 428, 712, 390],
];

function boxSvg({ x, y, width, height, title, lines = [], fill }: Box, titleSize = 15): string {
  const text = (content: string, at: number, size: number, colour: string, weight: number): string =>
    `<text x="${x + width / 2}" y="${at}" font-size="${size}" font-weight="${weight}" fill="${colour}">${content}</text>`;
  const top = y + (height - lines.length * 17 - titleSize) / 2 + titleSize - 2;
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${fill}" stroke="${line}"/>`,
    text(title, top, titleSize, ink, 600),
    ...lines.map((content, index) => text(content, top + 18 + index * 17, 13, muted, 400)),
  ].join('\n');
}

export function architecturePicture(): string {
  const frame = [
    `<rect x="${process.x}" y="${process.y}" width="${process.width}" height="${process.height}" rx="10" fill="${process.fill}" stroke="${line}" stroke-width="2"/>`,
    `<text x="${process.x + 225}" y="${process.y + 24}" font-size="15" font-weight="600" fill="${ink}">${process.title}</text>`,
  ];
  const lines = arrows.map(
    ([x1, y1, x2, y2]) =>
      `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${line}" stroke-width="2" marker-end="url(#arrow)"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title" font-family="system-ui, sans-serif" text-anchor="middle">`,
    '<title id="title">Clients connect to one Hangar process, which serves the management plane and all tenants from one store</title>',
    `<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="${line}"/></marker></defs>`,
    ...frame,
    ...boxes.map((box) => boxSvg(box)),
    ...lines,
    '</svg>',
    '',
  ].join('\n');
}

const files = (): Map<string, string> => new Map([[name, architecturePicture()]]);

export const writePicture = (): Promise<number> => writeFiles(files());
export const pictureProblems = (): Promise<string[]> => fileProblems(files(), 'picture');
