// Starts the real sandbox as after a fresh clone.

import type { SandboxConnection } from '../../src/sandbox/welcome.ts';
import { eventually } from './eventually.ts';
import { SOURCE } from './serve-process.ts';

export type SandboxProcess = ReturnType<typeof startSandboxOf>;

export const startSandbox = (environment: Record<string, string> = {}, ...options: string[]) =>
  startSandboxOf([process.execPath, SOURCE], environment, ...options);

/** The program is the command line of `delegations`. */
export function startSandboxOf(
  program: readonly string[],
  environment: Record<string, string> = {},
  ...options: string[]
) {
  // Several tests run at the same time.
  const ports = ['--port', '0', '--rpc-port', '0'];
  const child = Bun.spawn([...program, 'sandbox', ...ports, ...options], {
    env: { ...process.env, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let text = '';
  const read = async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk);
  };
  void read();
  return {
    child,
    /** Everything that it has printed so far. */
    text: () => text,
    /** Resolves when it has printed its introduction. */
    async ready(): Promise<void> {
      const isReady = () => /Press Ctrl-C to stop|^\{"url":.+\}\n/.test(text);
      await eventually('the sandbox is ready', isReady, { child }).catch(async (error: Error) => {
        throw new Error(`${error.message}: ${text}${await new Response(child.stderr).text()}`);
      });
    },
  };
}

export interface QuietSandbox extends SandboxConnection {
  /** Resolves when it has exited. */
  stop(): Promise<void>;
}

/** Starts a sandbox with --quiet, as other projects do in their tests. Options of the command follow. */
export async function startQuietSandbox(
  environment: Record<string, string> = {},
  ...options: string[]
): Promise<QuietSandbox> {
  const { child, text, ready } = startSandbox(environment, '--quiet', ...options);
  await ready();
  return {
    ...(JSON.parse(text()) as SandboxConnection),
    async stop() {
      child.kill('SIGINT');
      await child.exited;
    },
  };
}
