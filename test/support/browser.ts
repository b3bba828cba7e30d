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

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findProgram('chromium'), args: ARGUMENTS });
