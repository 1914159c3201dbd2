/**
 * Draws docs/guides/crds-or-aggregated-api.svg: the questions that decide between CustomResourceDefinitions and an aggregated API server. Every
 * text is in an opaque box, so that the picture is legible on a light and on a dark page.
 */

import { fileProblems, writeFiles } from './generated-files.ts';

const name = 'docs/guides/crds-or-aggregated-api.svg';

const questions: readonly (readonly [question: string, detail: string])[] = [
  ['Are the objects stored in another database,', 'or computed when they are read?'],
  ['More than 100,000 objects in a control plane,', 'or more than 100 writes a second?'],
  ['Queries that label and field selectors', 'cannot express, or requests that store nothing?'],
  ['Answers that depend on the user,', 'beyond the rules of RBAC?'],
  ['Other subresources than status and scale,', 'or streams of bytes?'],
];

const row = { height: 64, gap: 34, top: 20 };
const left = { x: 20, width: 400 };
const right = { x: 560, width: 260 };
const width = 840;
const endY = row.top + questions.length * (row.height + row.gap);
const height = endY + 84 + row.top;

const blue = '#dbeafe';
const green = '#dcfce7';
const amber = '#fef3c7';
const ink = '#0f172a';
const muted = '#475569';
const line = '#7d8590';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly lines: readonly string[];
  readonly fill: string;
}

const rowY = (at: number): number => row.top + at * (row.height + row.gap);

const boxes: readonly Box[] = [
  ...questions.map((lines, at) => ({ ...left, y: rowY(at), height: row.height, lines, fill: blue })),
  {
    ...right,
    y: rowY(1) + 20,
    height: 120,
    lines: ['Aggregated API server', '@hangar/server/library', 'storage, scaling and upgrades are yours'],
    fill: amber,
  },
  {
    ...left,
    y: endY,
    height: 84,
    lines: ['CRDs and controllers', '@hangar/runtime', 'the platform stores and serves the objects'],
    fill: green,
  },
];

interface Arrow {
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly label: string;
  readonly at: readonly [x: number, y: number];
}

/** Questions lead down with "no", and to the right with "yes". */
const arrows: readonly Arrow[] = questions.flatMap((_, at) => {
  const [y, middle] = [rowY(at), left.x + left.width / 2];
  const target = boxes[questions.length]!;
  const centre = y + row.height / 2;
  const endAt = Math.min(Math.max(centre, target.y + 16), target.y + target.height - 16);
  const bend = left.x + left.width + 80;
  return [
    {
      points: [
        [middle, y + row.height],
        [middle, y + row.height + row.gap - 2],
      ],
      label: 'no',
      at: [middle + 18, y + row.height + row.gap / 2 + 4],
    },
    {
      points: [
        [left.x + left.width, centre],
        [bend, centre],
        [bend, endAt],
        [right.x - 2, endAt],
      ],
      label: 'yes',
      at: [left.x + left.width + 34, centre - 8],
    },
  ] satisfies Arrow[];
});

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function boxText({ x, y, width: w, height: h, lines, fill }: Box): string {
  const first = y + h / 2 - ((lines.length - 1) * 20) / 2 + 5;
  const texts = lines.map((text, at) => {
    const style = at === 0 ? `font-weight="600" fill="${ink}"` : `fill="${muted}"`;
    return `  <text x="${x + w / 2}" y="${first + at * 20}" text-anchor="middle" ${style}>${escaped(text)}</text>`;
  });
  return [
    `  <rect x="${x}" y="${y}" width="${w}" height="${h}" rx="8" fill="${fill}" stroke="${line}"/>`,
    ...texts,
  ].join('\n');
}

function arrowText({ points, label, at: [x, y] }: Arrow): string {
  const path = points.map(([px, py]) => `${px},${py}`).join(' ');
  return [
    `  <polyline points="${path}" fill="none" stroke="${line}" stroke-width="1.5" marker-end="url(#end)"/>`,
    `  <rect x="${x - 15}" y="${y - 13}" width="30" height="18" rx="4" fill="#ffffff"/>`,
    `  <text x="${x}" y="${y}" text-anchor="middle" fill="${ink}">${label}</text>`,
  ].join('\n');
}

export function decisionPicture(): string {
  const arrowhead = `<path d="M0,0 L8,4 L0,8 z" fill="${line}"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="14" role="img">`,
    '  <title>CRDs and controllers, or an aggregated API?</title>',
    `  <defs><marker id="end" markerWidth="8" markerHeight="8" refX="8" refY="4" orient="auto">${arrowhead}</marker></defs>`,
    ...arrows.map(arrowText),
    ...boxes.map(boxText),
    '</svg>',
    '',
  ].join('\n');
}

const files = (): ReadonlyMap<string, string> => new Map([[name, decisionPicture()]]);

export const writeDecisionPicture = (): Promise<number> => writeFiles(files());
export const decisionPictureProblems = (): Promise<string[]> => fileProblems(files(), 'decision');
