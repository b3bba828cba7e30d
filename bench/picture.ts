// Draws the results as bar charts in SVG. Colours are readable on white and on black; the scale is logarithmic where values
// differ a lot.

import type { Bar, Chart, Section } from './section.ts';

const WIDTH = 860;
const LABEL = 300;
const BARS = 440;
const ROW = 22;
const TITLE = 46;
const MARGIN = 16;
/** Beyond this ratio the shorter bars would be invisible on a linear scale. */
const LARGEST_RATIO = 25;

export function pictureText(sections: readonly Section[]): string {
  let top = MARGIN;
  const parts: string[] = [];
  for (const chart of sections.flatMap(({ charts = [] }) => charts)) {
    parts.push(chartText(chart, top));
    top += TITLE + chart.bars.length * ROW;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top + MARGIN}" role="img" aria-label="Benchmarks: bars of the figures in the tables">
<style>
  text { font: 13px system-ui, sans-serif; fill: #767676; }
  .title { font-weight: 600; font-size: 14px; }
  .ours { fill: #2a7de1; }
  .other { fill: #8c8c8c; }
  @media (prefers-color-scheme: dark) { text { fill: #a8a8a8; } }
</style>
${parts.join('\n')}
</svg>
`;
}

function chartText({ title, best, bars }: Chart, top: number): string {
  const lengthOf = scaleOf(bars.map(({ value }) => value));
  const isLog = lengthOf.isLog ? ', logarithmic' : '';
  const head = `<text class="title" x="${MARGIN}" y="${top + 24}">${escaped(title)} (${best === 'least' ? 'shorter' : 'longer'} is better${isLog})</text>`;
  return [head, ...bars.map((bar, row) => barText(bar, lengthOf(bar.value), top + TITLE - 10 + row * ROW))].join('\n');
}

function barText({ label, text, ours }: Bar, length: number, top: number): string {
  const middle = top + 12;
  return `<text x="${LABEL - 8}" y="${middle}" text-anchor="end">${escaped(label)}</text><rect class="${ours ? 'ours' : 'other'}" x="${LABEL}" y="${top}" width="${length.toFixed(1)}" height="${ROW - 6}" rx="2"/><text x="${(LABEL + length + 6).toFixed(1)}" y="${middle}">${escaped(text)}</text>`;
}

interface Scale {
  (value: number): number;
  readonly isLog: boolean;
}

function scaleOf(values: readonly number[]): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isLog = most / least > LARGEST_RATIO;
  // The bar of the smallest value must be visible too.
  const floor = Math.log(least / 2);
  const share = (value: number) => (isLog ? (Math.log(value) - floor) / (Math.log(most) - floor) : value / most);
  return Object.assign((value: number) => BARS * share(value), { isLog });
}

const escaped = (text: string) => text.replace(/[<>&"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
