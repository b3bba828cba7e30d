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

/** Chromium without a window takes half of the time of the whole browser, which will do where that is what there is. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath:
      Bun.which('chromium-headless-shell') ?? Bun.which('chromium') ?? findProgram('chromium-headless-shell'),
    args: ARGUMENTS,
  });
