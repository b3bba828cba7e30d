// A picture of an address, so that people notice another one. It proves nothing: pictures of two addresses can look alike.

import { Html, html } from '../html.ts';

const CELLS = 5;
/** The left half with the middle column; the right half mirrors it. */
const HALF = 3;

/** The same picture for every letter case of an address. */
export function renderIdenticon(address: string): Html {
  const next = randomOf(address.toLowerCase());
  const hue = Math.floor(next() * 360);
  const [ground, ink] = [`hsl(${hue} 45% 88%)`, `hsl(${(hue + 20 + Math.floor(next() * 40)) % 360} 60% 38%)`];
  const squares: string[] = [];
  for (let row = 0; row < CELLS; row++) {
    for (let column = 0; column < HALF; column++) {
      if (next() < 0.5) continue;
      for (const x of new Set([column, CELLS - 1 - column])) squares.push(`M${x} ${row}h1v1h-1z`);
    }
  }
  return html`<svg class="identicon" viewBox="-1 -1 7 7" aria-hidden="true"><rect x="-1" y="-1" width="7" height="7" fill="${ground}"/><path fill="${ink}" d="${new Html(squares.join(''))}"/></svg>`;
}

/** Numbers from 0 to 1 (mulberry32), from a seed that every digit changes (FNV-1a): addresses of many zeros differ too. */
function randomOf(text: string): () => number {
  let state = 0x811c9dc5;
  for (const sign of text) state = Math.imul(state ^ sign.charCodeAt(0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
