// Renders a problem as a page, for a person who opened an address in a browser.

import { PROBLEMS, type ProblemType, problemUri } from '../api/problems.ts';
import { shorten } from '../api/query.ts';
import { type Html, html } from './html.ts';
import { renderPage } from './page.ts';
import { durationText } from './time-text.ts';

export interface ShownProblem {
  readonly type: ProblemType;
  readonly detail: string;
  /** Seconds until a retry may succeed; null if the problem has none. */
  readonly retryAfter: number | null;
  readonly requestId: string;
  /** The address that was opened: its path, and its path with the query. */
  readonly path: string;
  readonly url: string;
  /** Whether nothing at all is at the path. */
  readonly isUnknownPath: boolean;
  /** The page whose path is nearly the same; null if there is none. */
  readonly near: string | null;
}

const WAYS = [
  ['/', 'Look up a wallet', 'Who may act for it, and for whom it may act.'],
  ['/docs', 'Read the documentation', 'Every path of the API, with examples.'],
  ['/status', 'See the status', 'Which chains are up to date.'],
] as const;

export function renderProblem(problem: ShownProblem): string {
  const { type, detail, requestId, path, isUnknownPath } = problem;
  const { status, title } = PROBLEMS[type];
  const heading = isUnknownPath ? 'Page not found' : title;
  const what = isUnknownPath ? html`There is no page at <code>${shorten(path)}</code>.` : html`${detail}`;
  return renderPage(
    { title: heading, path: '' },
    html`<p class="said soft">${status}</p>
<h1>${heading}</h1>
<p class="lead">${what} ${nextStep(problem)}</p>
<ul class="lines">${WAYS.map(([href, name, about]) => html`<li><a href="${href}"><strong>${name}</strong></a> <span class="soft">${about}</span></li>`)}</ul>
<dl><dt>Problem</dt><dd><a href="${problemUri(type)}">${type}</a></dd><dt>Request id</dt><dd><code>${requestId}</code></dd></dl>`,
  );
}

function nextStep({ type, retryAfter, url, isUnknownPath, near }: ShownProblem): Html {
  if (isUnknownPath)
    return near === null
      ? html`Check the address, or go on from here.`
      : html`Did you mean <a href="${near}">${near}</a>?`;
  const again = html`<a href="${sameSite(url)}">try again</a>`;
  if (retryAfter !== null) return html`Wait ${waitText(retryAfter)}, then ${again}.`;
  switch (type) {
    case 'internal':
      return html`You can ${again}. If it fails again, send the request id below to the operator.`;
    case 'method-not-allowed':
      return html`This address only shows a page: <a href="${sameSite(url)}">open it</a>.`;
    default:
      return html`Go back and try again, or go on from here.`;
  }
}

/** Never too short. */
const waitText = (seconds: number) => durationText(seconds < 120 ? seconds : 60 * Math.ceil(seconds / 60));

/** A path that begins with two slashes would be a link to another site. */
const sameSite = (url: string) => (/^\/(?![/\\])/.test(url) ? url : '/');
