// Starts the sandbox and a browser for the tests of a file, and stops both after them.

import { afterAll, beforeAll } from 'bun:test';
import type { Browser } from 'playwright-core';
import { startBrowser } from './browser.ts';
import { type SandboxProcess, startSandbox } from './sandbox-process.ts';

/** The fields are set when the first test begins. */
export function useSandboxInBrowser() {
  const used = {} as { sandbox: SandboxProcess; url: string; rpcUrl: string; browser: Browser };
  beforeAll(async () => {
    // Tests that must not share a limit name their client in X-Forwarded-For.
    used.sandbox = startSandbox({ TRUSTED_PROXIES: '127.0.0.0/8' });
    used.browser = await startBrowser();
    await used.sandbox.ready();
    used.url = /curl '(http:\/\/[^/]+)\//.exec(used.sandbox.text())?.[1] ?? '';
    used.rpcUrl = /JSON-RPC +(\S+)/.exec(used.sandbox.text())?.[1] ?? '';
  });
  afterAll(async () => {
    await used.browser.close();
    used.sandbox.child.kill('SIGINT');
    await used.sandbox.child.exited;
  });
  return used;
}
