// Texts that name the origin that their reader uses are made once, with a mark in its place.

import { html } from './html.ts';

/** No host has this name (RFC 6761). */
export const ORIGIN = 'http://origin.invalid';

export const withOrigin = (text: string, origin: string): string => text.replaceAll(ORIGIN, () => origin);

export const htmlWithOrigin = (text: string, origin: string): string => withOrigin(text, html`${origin}`.text);
