// Draws the lag of a chain over the last day as a small line, with the same in words.

import type { NetworkRecord } from '../../api/responses.ts';
import { type Html, html } from '../html.ts';
import { dateText, durationText } from '../time-text.ts';

const WIDTH = 288;
const HEIGHT = 48;
const STEPS_OF_DAY = 144;
/** A backfill is years behind: the line leaves the picture at the top instead of flattening the rest. */
const TOP_IN_LIMITS = 4;

type LagHistory = NonNullable<NetworkRecord['lagHistory']>;

export function renderLag({ lagHistory, maxLagSeconds }: Pick<NetworkRecord, 'lagHistory' | 'maxLagSeconds'>): Html {
  if (lagHistory === null)
    return html`<p class="soft">The lag over the last day is shown after the first ten minutes.</p>`;
  const measured = lagHistory.seconds.filter((lag) => lag !== null);
  const highest = Math.max(...measured);
  const top = Math.max(1.25 * maxLagSeconds, Math.min(highest, TOP_IN_LIMITS * maxLagSeconds));
  const y = (lag: number) => round(HEIGHT - (HEIGHT * Math.min(lag, top)) / top);
  const words = lagText(lagHistory, maxLagSeconds);
  return html`<figure class="lag"><svg viewBox="0 -2 ${WIDTH} ${HEIGHT + 4}" preserveAspectRatio="none" role="img" aria-label="${words}">
<path class="limit" d="M0 ${y(maxLagSeconds)}H${WIDTH}"/><path class="line" d="${linePath(lagHistory, y)}"/></svg>
<figcaption>${words}</figcaption></figure>`;
}

const round = (value: number) => Math.round(10 * value) / 10;

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
