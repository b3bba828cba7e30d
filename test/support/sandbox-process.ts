// Starts the real sandbox as after a fresh clone.

import type { SandboxConnection } from '../../src/sandbox/welcome.ts';
import { SOURCE } from './serve-process.ts';

export interface SandboxProcess {
  readonly child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  /** Everything that it has printed so far. */
  text(): string;
  /** Resolves when it has printed its introduction. */
  ready(): Promise<void>;
}

export const startSandbox = (environment: Record<string, string> = {}, ...options: string[]): SandboxProcess =>
  startSandboxOf([process.execPath, SOURCE], environment, ...options);

/** The program is the command line of `delegations`. */
export function startSandboxOf(
  program: readonly string[],
  environment: Record<string, string> = {},
  ...options: string[]
): SandboxProcess {
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
    text: () => text,
    async ready() {
      for (let left = 600; !/Press Ctrl-C to stop|^\{"url":.+\}\n/.test(text); left--) {
        if (left === 0 || child.exitCode !== null)
          throw new Error(`the sandbox did not start: ${text}${child.exitCode === null ? '' : await stderrOf(child)}`);
        await Bun.sleep(100);
      }
    },
  };
}

const stderrOf = (child: SandboxProcess['child']) => new Response(child.stderr).text();

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
