// Starts a real browser that can reach only the loopback interface.

import { type Browser, chromium } from 'playwright-core';
import { findProgram } from './programs.ts';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/** A busy machine may need longer than Playwright's half minute. What hangs is ended by the timeout of the test. */
const TIMEOUT_MS = 240_000;

/** Chromium without a window takes half of the time of the whole browser, which will do where that is what there is. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath:
      Bun.which('chromium-headless-shell') ?? Bun.which('chromium') ?? findProgram('chromium-headless-shell'),
    args: ARGUMENTS,
    timeout: TIMEOUT_MS,
  });
  const newContext = browser.newContext.bind(browser);
  // Every page has a context, also one that is made without naming it.
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(TIMEOUT_MS);
    return context;
  };
  return browser;
}
