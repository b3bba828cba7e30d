// Draws the lag of a chain over the last day as a line with its axes, and each hour as a bar, with the same in words.

import type { NetworkRecord } from '../../api/responses.ts';
import { type Html, html } from '../html.ts';
import { dateText, durationText } from '../time-text.ts';

const WIDTH = 288;
const HEIGHT = 64;
const STEPS_OF_DAY = 144;
const STEPS_OF_HOUR = 6;
/** A backfill is years behind: the line leaves the picture at the top instead of flattening the rest. */
const TOP_IN_LIMITS = 4;
/** The axis has pixels of its own: the line is stretched, and text must not be. */
const AXIS_WIDTH = 60;
/** What a label takes of the height. */
const LABEL = 18;

type LagHistory = NonNullable<NetworkRecord['lagHistory']>;

export function renderLag({ lagHistory, maxLagSeconds }: Pick<NetworkRecord, 'lagHistory' | 'maxLagSeconds'>): Html {
  if (lagHistory === null)
    return html`<p class="soft">The lag over the last day is shown after the first ten minutes.</p>`;
  const measured = lagHistory.seconds.filter((lag) => lag !== null);
  const highest = Math.max(...measured);
  const top = Math.max(1.25 * maxLagSeconds, Math.min(highest, TOP_IN_LIMITS * maxLagSeconds));
  const y = (lag: number) => round(HEIGHT - (HEIGHT * Math.min(lag, top)) / top);
  const words = lagText(lagHistory, maxLagSeconds);
  return html`<figure class="lag">${renderAxis(maxLagSeconds, top, highest, y)}<svg class="lines" viewBox="0 -2 ${WIDTH} ${HEIGHT + 4}" preserveAspectRatio="none" role="img" aria-label="${words}">
<path class="limit" d="M0 ${y(maxLagSeconds)}H${WIDTH}"/><path class="line" d="${linePath(lagHistory, y)}"/></svg>
${renderHours(lagHistory, maxLagSeconds)}
<div class="hours-of-day"><span>24 h ago</span><span>12 h ago</span><span>now</span></div>
<figcaption>${words}</figcaption></figure>`;
}

const round = (value: number) => Math.round(10 * value) / 10;

/** The unit is part of each label: the limits of chains are from a minute to hours. */
function renderAxis(limit: number, top: number, highest: number, y: (lag: number) => number): Html {
  const labels = [0, limit, ...(y(limit) > LABEL ? [top] : [])];
  const texts = labels.map((lag) => {
    const baseline = Math.min(Math.max(y(lag) + 4, 10), HEIGHT);
    return html`<text x="${AXIS_WIDTH - 6}" y="${baseline}">${lag === top && highest > top && 'over '}${axisText(lag)}</text>`;
  });
  return html`<svg class="axis" viewBox="0 -2 ${AXIS_WIDTH} ${HEIGHT + 4}" aria-hidden="true">${texts}</svg>`;
}

/** Such as 0 s, 60 s, 10 min, 2 h. */
function axisText(seconds: number): string {
  const [size, unit] = seconds >= 7200 ? [3600, 'h'] : seconds >= 120 ? [60, 'min'] : [1, 's'];
  return `${round(seconds / size)} ${unit}`;
}

/** The newest step is at the right edge. A gap in the samples is a gap in the line; a sample between two gaps is a dash. */
function linePath({ seconds }: LagHistory, y: (lag: number) => number): string {
  const step = WIDTH / STEPS_OF_DAY;
  const start = STEPS_OF_DAY - seconds.length;
  return seconds
    .map((lag, position) => {
      if (lag === null) return '';
      const x = round((start + position) * step);
      const command = seconds[position - 1] == null ? 'M' : 'L';
      return `${command}${x} ${y(lag)}H${round(x + step)}`;
    })
    .join('');
}

const BAR_HEIGHTS = { within: 8, over: 12, unknown: 2 };

/** A bar for each of the last 24 hours. One sample above the limit is enough for an hour above it. */
function renderHours({ seconds }: LagHistory, limit: number): Html {
  const before = Array.from<null>({ length: Math.max(0, STEPS_OF_DAY - seconds.length) }).fill(null);
  const steps = [...before, ...seconds].slice(-STEPS_OF_DAY);
  const width = (WIDTH * STEPS_OF_HOUR) / STEPS_OF_DAY;
  const bars = { within: '', over: '', unknown: '' };
  for (let hour = 0; hour * STEPS_OF_HOUR < STEPS_OF_DAY; hour++) {
    const measured = steps.slice(hour * STEPS_OF_HOUR, (hour + 1) * STEPS_OF_HOUR).filter((lag) => lag !== null);
    const kind = measured.length === 0 ? 'unknown' : measured.some((lag) => lag > limit) ? 'over' : 'within';
    bars[kind] += `M${hour * width} ${BAR_HEIGHTS.over}v${-BAR_HEIGHTS[kind]}h${width - 2}v${BAR_HEIGHTS[kind]}z`;
  }
  const paths = Object.entries(bars).map(([kind, path]) => html`<path class="${kind}" d="${path}"/>`);
  return html`<svg class="hours" viewBox="0 0 ${WIDTH} ${BAR_HEIGHTS.over}" preserveAspectRatio="none" aria-hidden="true">${paths}</svg>`;
}

/** What the line shows. */
export function lagText({ since, stepSeconds, seconds }: LagHistory, maxLagSeconds: number): string {
  const measured = seconds.filter((lag) => lag !== null).sort((a, b) => a - b);
  const usual = measured[Math.floor(measured.length / 2)] ?? 0;
  const highest = measured.at(-1) ?? 0;
  const over = measured.filter((lag) => lag > maxLagSeconds).length * stepSeconds;
  const missing = (seconds.length - measured.length) * stepSeconds;
  const period = seconds.length >= STEPS_OF_DAY ? 'over the last day' : `since ${dateText(since)}`;
  return [
    `Lag ${period}: usually ${durationText(usual)}, at most ${durationText(highest)}.`,
    over === 0 ? '' : ` Above the limit of ${durationText(maxLagSeconds)} in ${durationText(over)} of it.`,
    missing === 0 ? '' : ` Not measured for ${durationText(missing)}.`,
  ].join('');
}
