// The scripts of the page at /developers, in the order in which they need each other.

import dialogs from './developer-dialogs.browser.js' with { type: 'text' };
import dom from './developer-dom.browser.js' with { type: 'text' };
import keyCards from './developer-key-cards.browser.js' with { type: 'text' };
import keys from './developer-keys.browser.js' with { type: 'text' };
import list from './developer-list.browser.js' with { type: 'text' };
import requests from './developer-requests.browser.js' with { type: 'text' };
import signIn from './developer-sign-in.browser.js' with { type: 'text' };
import times from './developer-times.browser.js' with { type: 'text' };
import webhookCards from './developer-webhook-cards.browser.js' with { type: 'text' };
import webhooks from './developer-webhooks.browser.js' with { type: 'text' };

export const KEYS_SCRIPT_TEXT = [dom, times, requests, dialogs, list, signIn, keyCards, keys].join('\n');
export const WEBHOOKS_SCRIPT_TEXT = [webhookCards, webhooks].join('\n');
