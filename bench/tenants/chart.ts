/** The growth curves as an SVG: panels side by side, both axes logarithmic, readable on light and dark pages. */

export interface Curve {
  readonly label: string;
  /** Of the palette; curves of one thing have one colour in all panels. */
  readonly colour: 1 | 2 | 3 | 4;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Not measured there but calculated from what was: drawn with dashes, without dots. */
  readonly isCalculated?: boolean;
}

export interface Panel {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly curves: readonly Curve[];
}

export interface Chart {
  readonly title: string;
  readonly note: string;
  readonly xLabel: string;
  readonly panels: readonly Panel[];
}

const panelWidth = 340;
const plot = { left: 62, top: 84, width: 262, height: 240 };
const height = 470;

const style = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .panel { font-size: 14px; font-weight: 600; }
  .quiet { fill: #57606a; font-size: 12px; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .curve { fill: none; stroke-width: 2.5; }
  .calculated { stroke-dasharray: 6 4; }
  .c1 { stroke: #0969da; } .c2 { stroke: #bc4c00; } .c3 { stroke: #1a7f37; } .c4 { stroke: #8250df; }
  .d1 { fill: #0969da; } .d2 { fill: #bc4c00; } .d3 { fill: #1a7f37; } .d4 { fill: #8250df; }
  .page { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .quiet { fill: #9198a1; } .grid { stroke: #3d444d; } .page { fill: #0d1117; }
    .c1 { stroke: #58a6ff; } .c2 { stroke: #f0883e; } .c3 { stroke: #3fb950; } .c4 { stroke: #bc8cff; }
    .d1 { fill: #58a6ff; } .d2 { fill: #f0883e; } .d3 { fill: #3fb950; } .d4 { fill: #bc8cff; }
  }`;

export function drawChart({ title, note, xLabel, panels }: Chart): string {
  const width = panelWidth * panels.length + 20;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style}\n</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="8"/>`,
    text(20, 30, title, 'title'),
    ...panels.map((panel, n) => drawPanel(panel, n * panelWidth, xLabel)),
    text(20, height - 14, note, 'quiet'),
    '</svg>\n',
  ].join('\n');
}

function drawPanel(panel: Panel, offset: number, xLabel: string): string {
  const points = panel.curves.flatMap((curve) => curve.points);
  const xs = axis(points.map(([x]) => x));
  const ys = axis(points.map(([, y]) => y));
  const atX = (value: number): number => offset + plot.left + xs.share(value) * plot.width;
  const atY = (value: number): number => plot.top + (1 - ys.share(value)) * plot.height;
  const bottom = plot.top + plot.height;
  return [
    text(offset + 20, 62, panel.title, 'panel'),
    ...ys.ticks.map((tick) => {
      const y = atY(tick).toFixed(1);
      return `<line class="grid" x1="${offset + plot.left}" x2="${offset + plot.left + plot.width}" y1="${y}" y2="${y}"/>${text(offset + plot.left - 6, Number(y) + 4, panel.format(tick), 'quiet', 'end')}`;
    }),
    ...xs.ticks.map((tick) => text(atX(tick), bottom + 18, tick.toLocaleString('en-US'), 'quiet', 'middle')),
    text(offset + plot.left + plot.width / 2, bottom + 36, xLabel, 'quiet', 'middle'),
    ...panel.curves.map((curve) => drawCurve(curve, atX, atY)),
    ...panel.curves.map((curve, n) => legend(curve, offset + plot.left, bottom + 56 + n * 17)),
  ].join('\n');
}

function drawCurve({ points, colour, isCalculated }: Curve, atX: Scale, atY: Scale): string {
  const places = points.map(([x, y]) => [atX(x).toFixed(1), atY(y).toFixed(1)] as const);
  const line = `<polyline class="curve c${colour}${isCalculated ? ' calculated' : ''}" points="${places.map(([x, y]) => `${x},${y}`).join(' ')}"/>`;
  if (isCalculated) return line;
  return line + places.map(([x, y]) => `<circle class="d${colour}" cx="${x}" cy="${y}" r="4"/>`).join('');
}

function legend({ label, colour, isCalculated }: Curve, x: number, y: number): string {
  const dashes = isCalculated ? ' calculated' : '';
  return `<line class="curve c${colour}${dashes}" x1="${x - 42}" x2="${x - 16}" y1="${y - 4}" y2="${y - 4}"/>${text(x - 10, y, label, 'quiet')}`;
}

type Scale = (value: number) => number;

/** Whole powers of ten around the values, a tick at each of them. */
function axis(values: readonly number[]): { readonly ticks: readonly number[]; readonly share: Scale } {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  return {
    ticks: Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n)),
    share: (value) => (Math.log10(value) - from) / (to - from),
  };
}

function text(x: number, y: number, content: string, name: string, anchor = 'start'): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${name}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
